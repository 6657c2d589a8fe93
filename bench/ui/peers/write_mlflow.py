"""python write_mlflow.py DIRECTORY METRICS STEPS: logs a run into the database of the directory, and prints its page."""

import mlflow
from mlflow.entities import Metric
from scalars import DIRECTORY, NAMES, STEPS, value

mlflow.set_tracking_uri(f"sqlite:///{DIRECTORY}/mlflow.db")
client = mlflow.MlflowClient()
run = client.create_run("0")
for step in range(STEPS):
    client.log_batch(run.info.run_id, [Metric(name, value(step), 1_760_000_000_000 + step, step) for name in NAMES])
client.set_terminated(run.info.run_id)
print(f"address /#/experiments/0/runs/{run.info.run_id}/model-metrics")
