import { killedBy, type RuleLines } from './rule-lines.js';

/** The rules about GPUs, tensors and the processes of a distributed training. */
export const GPU_LINES: Readonly<Record<string, RuleLines>> = {
  'cuda-out-of-memory': {
    source: 'PyTorch, c10/cuda/CUDACachingAllocator.cpp; CUDA runtime; cuBLAS; XLA, bfc_allocator.cc',
    explains: [
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.19 GiB is free.',
      'RuntimeError: CUDA error: out of memory',
      'RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`',
      'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes.',
      '[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
    ],
    not: [
      'CUDA memory: 71.2 GiB allocated, 78.0 GiB reserved',
      'grpc._channel._InactiveRpcError: status = RESOURCE_EXHAUSTED: Quota exceeded for requests per minute',
      'MemoryError',
    ],
  },
  'cuda-device-assert': {
    source: 'CUDA runtime, cudaErrorAssert; PyTorch, aten/src/ATen/native/cuda/Loss.cu',
    explains: [
      'RuntimeError: CUDA error: device-side assert triggered',
      '../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [4,0,0] Assertion `t >= 0 && t < n_classes` failed.',
    ],
    not: [
      'Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.',
      "python3: loss.c:25: main: Assertion `t >= 0' failed.",
    ],
  },
  'cuda-illegal-memory-access': {
    source: 'CUDA runtime, cudaErrorIllegalAddress, cudaErrorLaunchFailure; NVIDIA, Xid 31',
    explains: [
      'RuntimeError: CUDA error: an illegal memory access was encountered',
      'RuntimeError: CUDA error: unspecified launch failure',
      'NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python3, Ch 00000008, MMU Fault: ENGINE GRAPHICS',
    ],
    not: ['RuntimeError: CUDA error: invalid argument', 'Illegal instruction (core dumped)'],
  },
  'cuda-driver-mismatch': {
    source:
      'CUDA runtime, cudaErrorInsufficientDriver; NVML, nvmlErrorString; PyTorch, torch/csrc/cuda/Module.cpp',
    explains: [
      'RuntimeError: CUDA driver version is insufficient for CUDA runtime version',
      'Failed to initialize NVML: Driver/library version mismatch',
      'RuntimeError: The NVIDIA driver on your system is too old (found version 11040).',
    ],
    not: [
      'CUDA driver version: 12.4, CUDA runtime version: 12.1',
      'RuntimeError: Found no NVIDIA driver on your system.',
    ],
  },
  'cuda-no-kernel-image': {
    source: 'CUDA runtime, cudaErrorNoKernelImageForDevice',
    explains: ['RuntimeError: CUDA error: no kernel image is available for execution on the device'],
    not: ['FileNotFoundError: no image is available in /data/images'],
  },
  'gpu-fell-off-bus': {
    source: 'NVIDIA, Xid 79',
    explains: [
      "NVRM: Xid (PCI:0000:03:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
      'Unable to determine the device handle for GPU0000:03:00.0: Unknown Error',
    ],
    not: ['NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python3, Ch 00000008, MMU Fault'],
  },
  'gpu-memory-error': {
    source: 'CUDA runtime, cudaErrorECCUncorrectable; NVIDIA, Xid 48 and 94',
    explains: [
      'RuntimeError: CUDA error: uncorrectable ECC error encountered',
      'NVRM: Xid (PCI:0000:3b:00): 48, pid=4242, name=python3, DBE (Double Bit Error) ECC Error',
    ],
    not: ['NVRM: Xid (PCI:0000:3b:00): 43, pid=4242, name=python3, Ch 00000008', 'ECC errors: 0 corrected'],
  },
  'torch-without-cuda': {
    source: 'PyTorch, torch/cuda/__init__.py',
    explains: ['AssertionError: Torch not compiled with CUDA enabled'],
    not: ['RuntimeError: No CUDA GPUs are available'],
  },
  'no-gpu-visible': {
    source: 'PyTorch, torch/csrc/cuda/Module.cpp and torch/serialization.py',
    explains: [
      'RuntimeError: No CUDA GPUs are available',
      'RuntimeError: CUDA error: invalid device ordinal',
      'RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine',
    ],
    not: ['CUDA GPUs available: 2', 'AssertionError: Torch not compiled with CUDA enabled'],
  },
  'cuda-after-fork': {
    source: 'PyTorch, torch/cuda/__init__.py',
    explains: [
      "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
    ],
    not: ['RuntimeError: Cannot initialize CUDA without ATen_cuda library.'],
  },
  'device-mismatch': {
    source: 'PyTorch, aten/src/ATen/native',
    explains: [
      'RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!',
    ],
    not: ['RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 2 but got size 3'],
  },
  'cuda-library-error': {
    source: 'cuDNN, cudnnGetErrorString; cuBLAS',
    explains: [
      'RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED',
      'RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, opb, m, n, k)`',
    ],
    not: ['cuDNN version 8902, status CUDNN_STATUS_SUCCESS'],
  },
  'dataloader-worker-killed': {
    source: 'PyTorch, torch/utils/data/dataloader.py',
    explains: [
      'RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed. ',
      'RuntimeError: DataLoader worker (pid(s) 4242, 4243) exited unexpectedly',
    ],
    not: [
      'UserWarning: This DataLoader will create 16 worker processes in total.',
      'KeyError: Caught KeyError in DataLoader worker process 0.',
    ],
  },
  'shared-memory-too-small': {
    source: 'PyTorch, torch/utils/data/_utils/signal_handling.py',
    explains: [
      'ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).',
      'RuntimeError: unable to write to file </torch_4242_1>: No space left on device (28)',
    ],
    not: ["OSError: [Errno 28] No space left on device: '/data/out/model.pt'"],
  },
  'nccl-abort': {
    source: 'PyTorch, NCCLUtils.hpp and ProcessGroupNCCL.cpp; NCCL, ncclGetErrorString',
    explains: [
      'RuntimeError: NCCL communicator was aborted on rank 0. Original reason for failure was: remote process exited',
      'torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, unhandled system error, NCCL version 2.18.1',
      'ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.',
    ],
    not: ['NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>', 'NCCL version 2.18.1+cuda12.1'],
  },
  'nccl-timeout': {
    source: 'PyTorch, ProcessGroupNCCL.cpp',
    explains: [
      '[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=25, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600077 milliseconds before timing out.',
    ],
    not: ['requests.exceptions.ReadTimeout: read timed out', 'collective operation all_reduce took 3.1 s'],
    end: killedBy(-6),
  },
  'rendezvous-timeout': {
    source: 'PyTorch, torch/csrc/distributed/c10d/TCPStore.cpp',
    explains: [
      'torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.',
    ],
    not: ['INFO: rendezvous complete, 2/2 clients joined'],
  },
  'nan-loss': {
    source: 'training loops; PyTorch, torch/autograd and torch/nn/utils/clip_grad.py; scikit-learn',
    explains: [
      'ValueError: loss is nan at step 12',
      'Loss is nan, stopping training',
      'FloatingPointError: Loss became infinite or NaN at iteration=120!',
      'loss: nan',
      "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
      'RuntimeError: The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be clipped.',
    ],
    not: [
      'step 12 loss 0.31',
      'INFO: the loss of the validation set is information only',
      'dropping rows with NaN in column age',
    ],
  },
  'checkpoint-does-not-fit': {
    source: 'PyTorch, torch/nn/modules/module.py',
    explains: [
      'RuntimeError: Error(s) in loading state_dict for ResNet:',
      '\tsize mismatch for fc.weight: copying a param with shape torch.Size([10, 512]) from checkpoint, the shape in current model is torch.Size([5, 512]).',
    ],
    not: ['<All keys matched successfully>', 'ValueError: size mismatch for column 3'],
  },
  'checkpoint-unreadable': {
    source: 'safetensors, bindings/python; PyTorch, inline_container.cc; Python, pickle',
    explains: [
      'safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge',
      'RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory',
      'EOFError: Ran out of input',
    ],
    not: ['saved checkpoint to out/model.safetensors', 'EOFError: EOF when reading a line'],
  },
  'shape-mismatch': {
    source: 'PyTorch, aten/src/ATen; NumPy',
    explains: [
      'RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 5x2)',
      'RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected input[1, 4, 8, 8] to have 3 channels, but got 4 channels instead',
      'ValueError: operands could not be broadcast together with shapes (3,) (4,) ',
      "RuntimeError: shape '[3, 5]' is invalid for input of size 16",
    ],
    not: [
      'input shape (4, 3), output shape (4, 2)',
      'RuntimeError: expected scalar type Float but found Half',
    ],
  },
  'dtype-mismatch': {
    source: 'PyTorch, aten/src/ATen',
    explains: [
      'RuntimeError: expected scalar type Float but found Half',
      'RuntimeError: expected m1 and m2 to have the same dtype, but got: float != long',
      'RuntimeError: "addmm_impl_cpu_" not implemented for \'Half\'',
    ],
    not: ['model dtype: torch.bfloat16', 'NotImplementedError: backward not implemented for this operator'],
  },
  'autograd-error': {
    source: 'PyTorch, torch/csrc/autograd',
    explains: [
      'RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn',
      'RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [4]]',
      'RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed).',
    ],
    not: ['12 parameters, 4 of which require grad'],
  },
};
