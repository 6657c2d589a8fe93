import { expect } from 'chai';
import { TOOL_INPUTS, type EventRecord, type RunSummary } from '@svc/contract';
import { compileCheck } from '@svc/kernel';
import { explainAttempt } from '../src/explain.js';
import { FAILURE_RULES } from '../src/rules/index.js';
import { evidenceOf, explain, JOB } from './support/attempt-evidence.js';

const OOM = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';
const traceback = (error: string, file = 'train.py') =>
  `Traceback (most recent call last):\n  File "${file}", line 3, in main\n    step()\n${error}\n`;

describe('failures: conclusions', () => {
  it('the last error counts more than one that the program survived', () => {
    const text = `${traceback(OOM)}skipped the batch\n${traceback("ModuleNotFoundError: No module named 'eval_tools'")}`;
    const { rule, causes } = explain(evidenceOf(text));
    expect(rule).to.equal('missing-module');
    expect(causes.map((cause) => cause.rule)).to.include('cuda-out-of-memory');
  });

  it('the error of the first rank counts more than what the other ranks say about it', () => {
    const nccl =
      '[rank1]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1, ncclRemoteError: remote process exited';
    const text = `${traceback(OOM)}[rank1]: Traceback (most recent call last):\n[rank1]:   File "train.py", line 9, in main\n${nccl}\n`;
    expect(explain(evidenceOf(text)).rule).to.equal('cuda-out-of-memory');
  });

  it('an error in the log of a process that was killed is seldom the reason', () => {
    const text = `${traceback("ImportError: cannot import name 'flash' from 'attn'")}training without it\nstep 1\n`;
    const { rule } = explain(
      evidenceOf(text, {
        exit_code: -9,
        failure_reason: 'signal',
        failure_message: 'was killed by SIGKILL',
      }),
    );
    expect(rule).to.equal('killed');
  });

  it('an error that the program survived is possible at most, when it ended with another one of its own', () => {
    const text = `libnvinfer.so.7: cannot open shared object file: No such file or directory\n${traceback("KeyError: 'lr'")}`;
    const { rule, causes, summary } = explain(evidenceOf(text));
    expect(rule).to.equal(null);
    expect(summary).to.equal(
      "No rule matched. The attempt failed: exited with code 1. Its last Python error is `KeyError: 'lr'` at line 3 of train.py.",
    );
    expect(causes[0]).to.include({ rule: 'missing-shared-library' });
    expect(causes[0]?.confidence).to.be.below(0.5);
  });

  it('the error that the last one was raised from counts like it', () => {
    const chained = 'During handling of the above exception, another exception occurred:';
    const text = `${traceback("FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'")}\n${chained}\n\n${traceback('my.DataError: cannot load')}`;
    const { rule, confidence, traceback: found } = explain(evidenceOf(text));
    expect(rule).to.equal('file-not-found');
    expect(confidence).to.equal(0.93);
    expect(found?.error).to.equal('my.DataError: cannot load');
  });

  it('a warning is no error', () => {
    const text = 'train.py:3: UserWarning: CUDA initialization: no CUDA-capable device is detected\nstep 1\n';
    expect(explain(evidenceOf(text)).rule).to.equal(null);
  });

  it('an event tells what the log does not', () => {
    const event = {
      id: 'evt_1',
      type: 'CUSTOM',
      severity: 'critical',
      title: 'Stopped',
      message: 'loss is nan',
      created_at: 1,
    };
    const events = [event as unknown as EventRecord];
    const { rule, evidence } = explain(evidenceOf('step 1\n', {}, { events }));
    expect(rule).to.equal('nan-loss');
    expect(evidence).to.deep.equal([{ event_id: 'evt_1' }]);
    for (const type of ['RUN_FINISHED', 'EVALUATION_FINISHED']) {
      const named = { ...event, type, title: 'Job loss is nan failed', message: '' };
      const { rule } = explain(evidenceOf('step 1\n', {}, { events: [named as unknown as EventRecord] }));
      expect(rule, type).to.equal(null);
    }
  });

  it('a NaN that the loss recovered from is no reason', () => {
    const told = { id: 'evt_1', type: 'LOSS_NAN', severity: 'critical', title: 'NaN', message: '' };
    const events = [told as unknown as EventRecord];
    const summaryOf = (value: number | string) =>
      ({
        run_id: 'run_1',
        metrics: { 'train/loss': { latest: { value, step: 9, ts: 1 } } },
      }) as unknown as RunSummary;
    const rule = (value: number | string) =>
      explain(evidenceOf('step 9\n', {}, { events, summary: summaryOf(value) })).rule;
    expect(rule(0.3)).to.equal(null);
    expect(rule('NaN')).to.equal('nan-loss');
    expect(rule('Infinity')).to.equal('nan-loss');
  });

  it('how an evaluation of a checkpoint of the run ended is no reason', () => {
    const event = {
      id: 'evt_1',
      type: 'EVALUATION_FINISHED',
      severity: 'warning',
      created_at: 1,
      title: 'Evaluation eval:oom-killer failed',
      message: `ran out of memory: ${OOM}`,
    } as unknown as EventRecord;
    expect(explain(evidenceOf('step 1\n', {}, { events: [event] })).causes).to.deep.equal([]);
  });

  it('the error of a GPU that only the agent has seen', () => {
    const end = { failure_reason: 'OOM', failure_message: `ran out of memory: ${OOM}` } as const;
    expect(explain(evidenceOf('step 1\n', end)).rule).to.equal('cuda-out-of-memory');
    expect(explain(evidenceOf('', end)).rule).to.equal('cuda-out-of-memory');
    expect(
      explain(evidenceOf('', { ...end, failure_message: 'ran out of memory: MemoryError' })).rule,
    ).to.equal('host-out-of-memory');
  });

  it('fill in what the pattern found', () => {
    const { likely_cause } = explain(evidenceOf(traceback("ModuleNotFoundError: No module named 'apex'")));
    expect(likely_cause).to.equal('The Python environment of the job has no module `apex`.');
  });

  it('name the last frame in code of the user', () => {
    const text = [
      'Traceback (most recent call last):',
      '  File "/data/train.py", line 12, in <module>',
      '    model(x)',
      '    ~~~~~^^^',
      '  File "/data/model.py", line 7, in forward',
      '    return self.layer(x)',
      '  File "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 125, in forward',
      '    return F.linear(input, self.weight, self.bias)',
      'RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 5x2)',
    ].join('\n');
    const { traceback: found, rule } = explain(evidenceOf(text));
    expect(rule).to.equal('shape-mismatch');
    expect(found).to.deep.equal({
      error: 'RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 5x2)',
      frame: { file: '/data/model.py', line: 7, function: 'forward', code: 'return self.layer(x)' },
    });
  });

  it('say so when no rule matched, with the last error lines', () => {
    const explained = explain(evidenceOf(traceback('my.Diverged: at step 7')));
    expect(explained.rule).to.equal(null);
    expect(explained.likely_cause).to.equal(null);
    expect(explained.summary).to.match(/^No rule matched\./);
    expect(explained.last_errors.at(-1)?.text).to.equal('my.Diverged: at step 7');
    expect(explained.traceback?.frame).to.include({ file: 'train.py', line: 3 });
  });

  it('show few lines of a log without errors, those of stderr before others', () => {
    const lines = Array.from({ length: 30 }, (_, seq) => ({
      seq,
      stream: seq === 3 ? ('stderr' as const) : ('stdout' as const),
      ts: 1,
      text: `step ${seq}`,
    }));
    const warn = () => undefined;
    const { last_errors } = explainAttempt({ ...evidenceOf(''), lines }, [], FAILURE_RULES, {
      warn,
    } as never);
    expect(last_errors.map(({ seq }) => seq)).to.deep.equal([3, 26, 27, 28, 29]);
  });

  it('show with an ellipsis that a long failure message is cut', () => {
    const message = `exited with code 0 and left no valid result: ${'x'.repeat(400)}`;
    const reason = 'EVALUATION_RESULT_INVALID';
    const end = { failure_reason: reason, failure_message: message, exit_code: 0 } as const;
    expect(explain(evidenceOf('step 1\n', end)).summary).to.match(/x…\.$/);
  });

  it('say that an attempt has not failed', () => {
    const explained = explain(evidenceOf(OOM, { status: 'SUCCEEDED', exit_code: 0, failure_reason: null }));
    expect(explained.causes).to.deep.equal([]);
    expect(explained.summary).to.equal('It did not fail: it succeeded.');
    expect(explained.next_actions[0]).to.include({ tool: 'tail_logs', reason: 'The end of its log.' });
  });

  describe('next actions', () => {
    const KILLED = { failure_reason: 'OOM', exit_code: -9 } as const;
    for (const [what, text, end, expected] of [
      [
        'out of memory of the GPU',
        OOM,
        { failure_reason: 'OOM', failure_message: `ran out of memory: ${OOM}` },
        'cuda-out-of-memory',
      ],
      ['out of memory of the host', traceback('MemoryError'), {}, 'host-out-of-memory'],
      [
        'out of memory as the kernel recorded it',
        'step 1\n',
        { ...KILLED, failure_message: 'ran out of memory and was killed by the kernel' },
        'kernel-killed-for-memory',
      ],
      ['a NaN loss', traceback('ValueError: loss is nan at step 12'), {}, 'nan-loss'],
    ] as const)
      it(`rule 7: after ${what} the first is submit_job with the original command as the base, and none is retry_job`, () => {
        const { rule, next_actions } = explain(evidenceOf(text, end));
        expect(rule).to.equal(expected);
        expect(next_actions[0]).to.deep.include({
          tool: 'submit_job',
          args: {
            command: ['python3', 'train.py', '--lr', '0.1'],
            working_dir: '/data/vision',
            gpus: 2,
            project: 'vision',
          },
        });
        expect(next_actions[0]?.reason).to.match(/[Rr]e-running unchanged fails identically/);
        expect(next_actions.map(({ tool }) => tool)).not.to.include('retry_job');
      });

    it('of an evaluation are to evaluate the checkpoint with another command: a job of its own would have no checkpoint', () => {
      const job = { ...JOB, checkpoint_id: 'ckpt_01HZZZZZZZZZZZZZZZZZZZZZZZ' };
      const { next_actions } = explain(evidenceOf(OOM, {}, { job }));
      expect(next_actions[0]).to.deep.include({
        tool: 'evaluate_checkpoint',
        args: { checkpoint_id: job.checkpoint_id, command: job.command },
      });
      expect(next_actions[0]?.reason).to.match(
        /unchanged fails identically.*suite, dataset, dataset_version/,
      );
      expect(next_actions.map(({ tool }) => tool)).not.to.include('retry_job');
    });

    it('of an evaluation make it an evaluation again', () => {
      const evidence = evidenceOf(OOM);
      const checkpoint_id = 'ckpt_01HZZZZZZZZZZZZZZZZZZZZZZZ';
      const env = { SVC_EVAL_CHECKPOINT: '/out/1.pt', SVC_EVAL_ID: 'eval_01HZZZZZZZZZZZZZZZZZZZZZZZ' };
      const job = { ...evidence.job, type: 'EVALUATE', checkpoint_id, env } as typeof evidence.job;
      const [first] = explain({ ...evidence, job }).next_actions;
      expect(first).to.deep.include({
        tool: 'evaluate_checkpoint',
        args: { checkpoint_id, command: ['python3', 'train.py', '--lr', '0.1'] },
      });
      expect(first?.reason)
        .to.match(/fails identically/)
        .and.not.contain('environment variables');
    });

    it('of a container job submit it in its container again, and name what they leave out', () => {
      const container = {
        runner: 'docker',
        image: 'train:1',
        runner_options: { mounts: ['/data:/data:ro'] },
      };
      const runner_options = { image: container.image, ...container.runner_options };
      const job = { ...JOB, ...container, runner_options, node_selector: { rack: '7' } } as typeof JOB;
      const [first] = explain(evidenceOf(OOM, {}, { job })).next_actions;
      expect(first?.args).to.deep.include(container);
      expect(first?.reason).to.contain('The node selector of the job is not among the arguments.');
      expect(compileCheck(TOOL_INPUTS.submit_job, 'leave')(first?.args)).to.deep.equal([]);
    });

    it('do not retry a job that goes on', () => {
      const evidence = evidenceOf(traceback("ModuleNotFoundError: No module named 'apex'"));
      const job = { ...evidence.job, attempt: 2, status: 'RUNNING' as const };
      expect(explain({ ...evidence, job }).next_actions.map(({ tool }) => tool)).to.deep.equal(['tail_logs']);
    });

    it('pass the input schema of their tool, of every rule', () => {
      const reasons = [
        'OOM',
        'EXIT_CODE',
        'signal',
        'LOST',
        'DISPATCH_FAILED',
        'EVALUATION_RESULT_INVALID',
      ] as const;
      const codes = [1, 124, -2, -4, -6, -7, -9, -11, -15, null];
      const logs = FAILURE_RULES.flatMap(({ definition }) => definition.patterns ?? []).map(
        ({ source }) => source,
      );
      const seen = new Set<string>();
      for (const text of [OOM, ...logs])
        for (const failure_reason of reasons)
          for (const exit_code of codes)
            for (const { tool, args } of explain(evidenceOf(text, { failure_reason, exit_code }))
              .next_actions) {
              expect(compileCheck(TOOL_INPUTS[tool], 'leave')(args)).to.deep.equal([]);
              seen.add(tool);
            }
      expect([...seen]).to.include.members(['submit_job', 'retry_job', 'tail_logs']);
    });
  });
});
