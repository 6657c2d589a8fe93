import { aborted } from './aborted.js';
import { addressInUse } from './address-in-use.js';
import { assertion } from './assertion.js';
import { autogradError } from './autograd-error.js';
import { busError } from './bus-error.js';
import { checkpointDoesNotFit } from './checkpoint-does-not-fit.js';
import { checkpointUnreadable } from './checkpoint-unreadable.js';
import { cudaAfterFork } from './cuda-after-fork.js';
import { cudaDeviceAssert } from './cuda-device-assert.js';
import { cudaDriverMismatch } from './cuda-driver-mismatch.js';
import { cudaIllegalMemoryAccess } from './cuda-illegal-memory-access.js';
import { cudaLibraryError } from './cuda-library-error.js';
import { cudaNoKernelImage } from './cuda-no-kernel-image.js';
import { cudaOutOfMemory } from './cuda-out-of-memory.js';
import { dataloaderWorkerKilled } from './dataloader-worker-killed.js';
import { deviceMismatch } from './device-mismatch.js';
import { diskFull } from './disk-full.js';
import { diskQuota } from './disk-quota.js';
import { dispatchFailed } from './dispatch-failed.js';
import { dtypeMismatch } from './dtype-mismatch.js';
import { evaluationResultInvalid } from './evaluation-result-invalid.js';
import { fileNotFound } from './file-not-found.js';
import { gpuFellOffBus } from './gpu-fell-off-bus.js';
import { gpuMemoryError } from './gpu-memory-error.js';
import { hostOutOfMemory } from './host-out-of-memory.js';
import { huggingfaceGated } from './huggingface-gated.js';
import { huggingfaceNotFound } from './huggingface-not-found.js';
import { illegalInstruction } from './illegal-instruction.js';
import { importError } from './import-error.js';
import { interrupted } from './interrupted.js';
import { kernelKilledForMemory } from './kernel-killed-for-memory.js';
import { killed } from './killed.js';
import { missingModule } from './missing-module.js';
import { missingSharedLibrary } from './missing-shared-library.js';
import { nanLoss } from './nan-loss.js';
import { ncclAbort } from './nccl-abort.js';
import { ncclTimeout } from './nccl-timeout.js';
import { networkUnreachable } from './network-unreachable.js';
import { noGpuVisible } from './no-gpu-visible.js';
import { nodeLost } from './node-lost.js';
import { permissionDenied } from './permission-denied.js';
import { programNotFound } from './program-not-found.js';
import { proxy } from './proxy.js';
import { pythonSyntax } from './python-syntax.js';
import { readOnlyFileSystem } from './read-only-file-system.js';
import { recursion } from './recursion.js';
import { rendezvousTimeout } from './rendezvous-timeout.js';
import { runNanLoss } from './run-nan-loss.js';
import { runOverfitting } from './run-overfitting.js';
import { segmentationFault } from './segmentation-fault.js';
import { shapeMismatch } from './shape-mismatch.js';
import { sharedMemoryTooSmall } from './shared-memory-too-small.js';
import { sslCertificate } from './ssl-certificate.js';
import { terminated } from './terminated.js';
import { timeLimit } from './time-limit.js';
import { tooManyOpenFiles } from './too-many-open-files.js';
import { tooManyProcesses } from './too-many-processes.js';
import { torchWithoutCuda } from './torch-without-cuda.js';
import { undefinedSymbol } from './undefined-symbol.js';
import { wrongArguments } from './wrong-arguments.js';

/** The most specific first: among conclusions of equal confidence the first counts. */
export const FAILURE_RULES = [
  evaluationResultInvalid,
  dispatchFailed,
  nodeLost,
  cudaOutOfMemory,
  kernelKilledForMemory,
  hostOutOfMemory,
  cudaDeviceAssert,
  cudaIllegalMemoryAccess,
  cudaDriverMismatch,
  cudaNoKernelImage,
  gpuFellOffBus,
  gpuMemoryError,
  torchWithoutCuda,
  noGpuVisible,
  cudaAfterFork,
  deviceMismatch,
  cudaLibraryError,
  dataloaderWorkerKilled,
  sharedMemoryTooSmall,
  ncclAbort,
  ncclTimeout,
  rendezvousTimeout,
  addressInUse,
  huggingfaceGated,
  huggingfaceNotFound,
  missingSharedLibrary,
  undefinedSymbol,
  missingModule,
  importError,
  pythonSyntax,
  wrongArguments,
  programNotFound,
  diskQuota,
  diskFull,
  readOnlyFileSystem,
  permissionDenied,
  fileNotFound,
  tooManyOpenFiles,
  tooManyProcesses,
  sslCertificate,
  proxy,
  networkUnreachable,
  nanLoss,
  checkpointDoesNotFit,
  checkpointUnreadable,
  shapeMismatch,
  dtypeMismatch,
  autogradError,
  recursion,
  assertion,
  timeLimit,
  segmentationFault,
  busError,
  illegalInstruction,
  interrupted,
  terminated,
  killed,
  aborted,
] as const;

/** They explain runs without a job, and give the diagnosis of every run its advice. */
export const RUN_RULES = [runNanLoss, runOverfitting] as const;
