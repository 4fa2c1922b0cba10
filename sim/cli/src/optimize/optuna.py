"""Names the points of `wave-sim optimize --method tpe`, with the tree-structured Parzen estimator of Optuna.

Standard input has a line of JSON for each request, and standard output one for each answer. The first line has the axes.
{"ask": n} wants n points: for each axis the number of a value. {"tell": [[id, value, excess], ...]} says what they were worth:
a value of null is a point that did not run, and a positive excess one that goes beyond a limit.
"""

import sys

# The working folder may hold a file that is named as a module.
sys.path[:] = [folder for folder in sys.path if folder]

import json


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    plan = json.loads(sys.stdin.readline())
    try:
        import optuna
    except ImportError as error:
        say(error=f"--method tpe: Python cannot import `optuna`: {error}",
            hint="pip install optuna, in the environment whose python3 is first on the path; --method evolve needs nothing")
        return
    import warnings

    warnings.filterwarnings("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(
        seed=plan["seed"],
        n_startup_trials=plan["startup"],
        multivariate=True,
        # Points under way count as bad ones, so that those of one request lie apart.
        constant_liar=True,
        constraints_func=lambda trial: (trial.user_attrs.get("excess", 0.0),),
    )
    study = optuna.create_study(direction="minimize", sampler=sampler)
    if plan["first"] is not None:
        study.enqueue_trial({axis["key"]: index for axis, index in zip(plan["axes"], plan["first"])})

    def suggest(trial, axis):
        if axis["ordered"]:
            return trial.suggest_int(axis["key"], 0, axis["values"] - 1)
        return trial.suggest_categorical(axis["key"], list(range(axis["values"])))

    asked = {}
    say(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        for number, value, excess in request.get("tell", []):
            trial = asked.pop(number)
            trial.set_user_attr("excess", excess)
            if value is None:
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            else:
                study.tell(trial, value)
        points = []
        for _ in range(request.get("ask", 0)):
            trial = study.ask()
            asked[trial.number] = trial
            points.append([trial.number, [suggest(trial, axis) for axis in plan["axes"]]])
        say(points=points)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        pass
