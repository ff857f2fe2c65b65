r"""
The library in a few calls: train a model, load it, classify with it.

    from nbtext import classify, load, train

    train(["spam/", "ham/"], "mail.nbt")
    model = load("mail.nbt")
    decision = classify(model, b"Subject: hello\n\nHello.")
    print(decision.label, decision.probability)

`nbtext` itself exports the calls, and loads what a call needs when it is first asked
for; the command line calls these, or the functions behind them. What evaluation, doctor
and tuning need is imported where they are called, because training does not need it.
"""
