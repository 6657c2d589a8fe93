import { killedBy, type RuleLines } from './rule-lines.js';

const ended = (exit_code: number) => ({ exit_code, failure_reason: 'EXIT_CODE' }) as const;

/** The rules about the host, the network, Python, and the end of the process. */
export const SYSTEM_LINES: Readonly<Record<string, RuleLines>> = {
  'evaluation-result-invalid': {
    source: 'the agent',
    explains: ['done'],
    not: ['EVALUATION_RESULT_INVALID'],
    end: {
      exit_code: 0,
      failure_reason: 'EVALUATION_RESULT_INVALID',
      failure_message: 'exited with code 0 and left no valid result',
    },
  },
  'dispatch-failed': {
    source: 'the agent',
    explains: [''],
    not: ['DISPATCH_FAILED'],
    end: {
      exit_code: null,
      failure_reason: 'DISPATCH_FAILED',
      failure_message: 'could not be started on node1',
    },
  },
  'node-lost': {
    source: 'the server',
    explains: ['step 12'],
    not: ['LOST', 'connection lost, connecting again'],
    end: { status: 'LOST', exit_code: null, failure_reason: 'LOST', failure_message: null },
  },
  'kernel-killed-for-memory': {
    source: 'Linux, mm/oom_kill.c; Slurm',
    explains: [
      'Memory cgroup out of memory: Killed process 4242 (python3) total-vm:9000kB, anon-rss:8000kB',
      'Out of memory: Killed process 4242 (python3) total-vm:9000kB, anon-rss:8000kB',
      'slurmstepd: error: Detected 1 oom-kill event(s) in StepId=123.batch. Some of your processes may have been killed by the cgroup out-of-memory handler.',
    ],
    not: ['torch.OutOfMemoryError: CUDA out of memory. Process 4242 has 70 GiB in use.', 'Killed'],
    end: killedBy(-9),
  },
  'host-out-of-memory': {
    source: 'CPython; NumPy; PyTorch, c10/core/impl/alloc_cpu.cpp; libstdc++; glibc; V8',
    explains: [
      'MemoryError',
      '2026-01-02 03:04:05 [ERROR] MemoryError: Unable to allocate',
      'numpy.core._exceptions._ArrayMemoryError: Unable to allocate 745. GiB for an array with shape (100000, 1000000) and data type float64',
      "RuntimeError: [enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 1125899906842624 bytes.",
      'OSError: [Errno 12] Cannot allocate memory',
      'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    ],
    not: ['RuntimeError: CUDA error: out of memory', 'host memory: 12 GiB free of 64 GiB'],
  },
  'address-in-use': {
    source: 'Linux, strerror(EADDRINUSE); PyTorch, TCPStore',
    explains: [
      'OSError: [Errno 98] Address already in use',
      'Error: listen EADDRINUSE: address already in use :::6006',
    ],
    not: ['listening on 0.0.0.0:6006', 'the GPU is already in use by this process'],
  },
  'huggingface-gated': {
    source: 'huggingface_hub, utils/_http.py',
    explains: [
      'huggingface_hub.errors.GatedRepoError: 403 Client Error.',
      'Cannot access gated repo for url https://huggingface.co/meta-llama/Llama-3/resolve/main/config.json.',
    ],
    not: [
      'requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://example.org/',
      'using a gated linear unit',
    ],
  },
  'huggingface-not-found': {
    source: 'transformers, utils/hub.py; huggingface_hub; datasets',
    explains: [
      "OSError: no-such/model is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
      'huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error.',
      'requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/models/x/y',
    ],
    not: ['404 Client Error: Not Found for url: https://example.org/model.bin'],
  },
  'missing-shared-library': {
    source: 'glibc, ld.so',
    explains: [
      'OSError: libcudart.so.12: cannot open shared object file: No such file or directory',
      'ImportError: libGL.so.1: cannot open shared object file: No such file or directory',
      "./train: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./train)",
    ],
    not: ["FileNotFoundError: [Errno 2] No such file or directory: 'libraries.txt'"],
  },
  'undefined-symbol': {
    source: 'glibc, ld.so',
    explains: [
      'ImportError: /venv/lib/python3.11/site-packages/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi',
    ],
    not: ["NameError: name 'x' is not defined", 'jinja2.exceptions.UndefinedError: symbol is undefined'],
  },
  'missing-module': {
    source: 'CPython',
    explains: [
      "ModuleNotFoundError: No module named 'apex'",
      '/usr/bin/python3: No module named torch.distributed.run',
    ],
    not: [
      "ImportError: cannot import name 'amp' from 'torch'",
      "AttributeError: module 'torch' has no attribute 'foo'",
    ],
  },
  'import-error': {
    source: 'CPython',
    explains: [
      "ImportError: cannot import name 'no_such_name' from 'os' (/usr/lib/python3.12/os.py)",
      "AttributeError: partially initialized module 'random' has no attribute 'randint' (most likely due to a circular import)",
    ],
    not: ["ModuleNotFoundError: No module named 'apex'", 'imported 1200 rows'],
  },
  'python-syntax': {
    source: 'CPython',
    explains: [
      "SyntaxError: expected ':'",
      'IndentationError: unexpected indent',
      'TabError: inconsistent use of tabs and spaces in indentation',
    ],
    not: [
      'psycopg2.errors.SyntaxError: syntax error at or near "FORM"',
      'bash: -c: line 1: syntax error near unexpected token',
    ],
  },
  'wrong-arguments': {
    source: 'Python, argparse; click; getopt',
    explains: [
      'train.py: error: the following arguments are required: --lr',
      'train.py: error: unrecognized arguments: --learning-rate 0.1',
      "train.py: error: argument --lr: invalid float value: 'fast'",
      'Error: No such option: --lrr Did you mean --lr?',
      "cp: unrecognized option '--fast'",
    ],
    not: ['TypeError: f() got an unexpected keyword argument', 'slurmstepd: error: *** JOB 4242 CANCELLED'],
  },
  'program-not-found': {
    source: 'dash; bash; env',
    explains: [
      'sh: 1: accelerate: not found',
      'bash: line 1: accelerate: command not found',
      '/usr/bin/env: ‘python’: No such file or directory',
    ],
    not: ['KeyError: column not found', 'huggingface_hub.errors.EntryNotFoundError: file not found'],
    end: ended(127),
  },
  'disk-quota': {
    source: 'Linux, strerror(EDQUOT)',
    explains: ["OSError: [Errno 122] Disk quota exceeded: 'out/model.pt'"],
    not: ['google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric'],
  },
  'disk-full': {
    source: 'Linux, strerror(ENOSPC); PyTorch, inline_container.cc',
    explains: [
      "OSError: [Errno 28] No space left on device: 'out/model.pt'",
      'RuntimeError: [enforce fail at inline_container.cc:595] . PytorchStreamWriter failed writing file data/12: file write failed',
    ],
    not: ['disk: 12 GB left on device sda1'],
  },
  'read-only-file-system': {
    source: 'Linux, strerror(EROFS)',
    explains: ["OSError: [Errno 30] Read-only file system: '/mnt/out'"],
    not: ['opened data set read-only'],
  },
  'permission-denied': {
    source: 'Linux, strerror(EACCES, EPERM)',
    explains: [
      "PermissionError: [Errno 13] Permission denied: '/root/out.txt'",
      'sh: 1: ./train.sh: Permission denied',
      'chown: changing ownership of x: Operation not permitted',
    ],
    not: ['huggingface_hub.errors.HfHubHTTPError: 403 Forbidden', 'RuntimeError: operation not supported'],
  },
  'file-not-found': {
    source: 'Linux, strerror(ENOENT); CPython',
    explains: [
      "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.csv'",
      "python3: can't open file '/data/train.py': [Errno 2] No such file or directory",
      "tail: cannot open '/var/log/train.log' for reading: No such file or directory",
      'cat: no-such-file.txt: No such file or directory',
      'FileNotFoundError: no checkpoint in out/',
    ],
    not: ['requests.exceptions.HTTPError: 404 Client Error: Not Found', "KeyError: 'path'"],
  },
  'too-many-open-files': {
    source: 'Linux, strerror(EMFILE); PyTorch, multiprocessing',
    explains: [
      "OSError: [Errno 24] Too many open files: '/data/1.png'",
      'RuntimeError: received 0 items of ancdata',
    ],
    not: ['opened 128 files', 'ValueError: too many values to unpack (expected 2)'],
  },
  'too-many-processes': {
    source: 'CPython, Modules/_threadmodule.c; glibc',
    explains: [
      "RuntimeError: can't start new thread",
      'OpenBLAS blas_thread_init: pthread_create failed for thread 5 of 64: Resource temporarily unavailable',
      'BlockingIOError: [Errno 11] Resource temporarily unavailable',
    ],
    not: ['started 8 worker processes'],
  },
  'ssl-certificate': {
    source: 'CPython, ssl; curl',
    explains: [
      'ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)',
      'curl: (60) SSL certificate problem: unable to get local issuer certificate',
    ],
    not: ['self-supervised learning (SSL) epoch 3', 'ConnectionRefusedError: [Errno 111] Connection refused'],
  },
  proxy: {
    source: 'urllib3, exceptions.py',
    explains: [
      "requests.exceptions.ProxyError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with url: / (Caused by ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy Authentication Required')))",
    ],
    not: [
      'using proxy http://proxy:3128',
      "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with url: /",
    ],
  },
  'network-unreachable': {
    source: 'glibc, getaddrinfo; CPython; urllib3',
    explains: [
      'socket.gaierror: [Errno -3] Temporary failure in name resolution',
      'ConnectionRefusedError: [Errno 111] Connection refused',
      "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with url: /",
    ],
    not: ['connected to 10.0.0.1:29500', 'requests.exceptions.HTTPError: 500 Server Error'],
  },
  recursion: {
    source: 'CPython',
    explains: ['RecursionError: maximum recursion depth exceeded'],
    not: ['sys.setrecursionlimit(10000)'],
  },
  assertion: {
    source: 'CPython; glibc, assert.c',
    explains: [
      'AssertionError: sizes differ',
      'AssertionError',
      "train: loss.cc:25: int main(): Assertion `n > 0' failed.",
    ],
    not: ['all assertions passed', 'RuntimeError: CUDA error: device-side assert triggered'],
  },
  'time-limit': {
    source: 'Slurm, slurmstepd; coreutils, timeout (124)',
    explains: [
      'slurmstepd: error: *** JOB 4242 ON node1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***',
      'step 12',
    ],
    not: ['time limit: 12 h', 'TimeoutError: read timed out'],
    end: ended(124),
  },
  'segmentation-fault': {
    source: 'Linux; bash; Python, faulthandler',
    explains: ['Segmentation fault (core dumped)', 'Fatal Python error: Segmentation fault', ''],
    not: [
      'image segmentation: fault tolerance is off',
      'torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with exit code 1',
    ],
    end: killedBy(-11),
  },
  'bus-error': {
    source: 'Linux; bash',
    explains: ['Bus error (core dumped)', ''],
    not: ['GPU bus id 0000:3b:00.0'],
    end: killedBy(-7),
  },
  'illegal-instruction': {
    source: 'Linux; bash',
    explains: ['Illegal instruction (core dumped)', ''],
    not: [
      'RuntimeError: CUDA error: an illegal memory access was encountered',
      'instruction tuning, epoch 1',
    ],
    end: killedBy(-4),
  },
  interrupted: {
    source: 'CPython; Linux',
    explains: ['KeyboardInterrupt', ''],
    not: ['InterruptedError: [Errno 4] Interrupted system call'],
    end: killedBy(-2),
  },
  terminated: {
    source: 'Linux',
    explains: ['step 12', 'Terminated'],
    not: ['Terminated'],
    end: killedBy(-15),
  },
  killed: { source: 'Linux', explains: ['step 12', 'Killed'], not: ['Killed'], end: killedBy(-9) },
  aborted: {
    source: 'libstdc++; glibc',
    explains: [
      "terminate called after throwing an instance of 'std::runtime_error'",
      'double free or corruption (out)',
    ],
    not: ['the upload was aborted by the user'],
    end: killedBy(-6),
  },
};
