import { aim, trackio } from './in-process.js';
import { fasttrackml, mlflow } from './mlflow-like.js';
import type { Peer } from './peer.js';
import { tensorboard } from './tensorboard.js';

export const PEERS: readonly Peer[] = [mlflow, fasttrackml, aim, trackio, tensorboard];
