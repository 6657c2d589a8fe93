import { failureRule } from '../failure-rule.js';

export const ncclAbort = failureRule({
  name: 'nccl-abort',
  title: 'The communication between GPUs failed',
  cause:
    'NCCL, which the GPUs exchange data with, reported an error. Most often another rank failed first, or the network between the GPUs does not work.',
  fixes: [
    'Read the log of the rank that failed first: its error is the cause.',
    'Set NCCL_DEBUG=INFO, and check the network interface (NCCL_SOCKET_IFNAME) and peer access of the GPUs.',
  ],
  confidence: 0.75,
  remedy: 'repair',
  patterns: [
    /\bNCCL communicator (?:was aborted|encountered error)/,
    /\bnccl(?:UnhandledCudaError|SystemError|InternalError|InvalidArgument|InvalidUsage|RemoteError)\b/,
    /\bNCCL error\b|\bDistBackendError\b/,
  ],
  explainsKill: true,
});
