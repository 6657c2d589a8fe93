import { consume } from '@lit/context';
import { toCommandLine } from '@svc/client';
import type { Issue } from '@svc/contract';
import { LitElement, css, html, nothing, type PropertyValues } from 'lit';
import { customElement, property, query, state } from 'lit/decorators.js';
import { icon } from '../components/icons.js';
import { issuesLeft } from '../components/job-form-view.js';
import { renderPending } from '../components/record-parts.js';
import { ask } from '../components/svc-confirm.js';
import type { SvcJobForm } from '../components/svc-job-form.js';
import '../components/svc-job-form.js';
import '../components/svc-notice.js';
import '../components/svc-skeleton.js';
import { toast } from '../components/svc-toasts.js';
import { Loader } from '../controllers/loader.js';
import { toApiError, type Api, type ApiError } from '../data/api.js';
import type { Whoami } from '../data/auth.js';
import { apiContext, isAwayContext, whoContext } from '../data/contexts.js';
import { EMPTY_DRAFT, HIDDEN_VALUE, toDraft, toSubmit, type JobDraft } from '../data/job-draft.js';
import { getJob, submitJob, type Job } from '../data/jobs.js';
import { listNodes, type NodeRecord } from '../data/nodes.js';
import { listExperiments, listProjects, type Experiment, type Project } from '../data/projects.js';
import { listRunners, type Runner } from '../data/runners.js';
import { leaveGuard } from '../leave-guard.js';
import { navigate, paths } from '../paths.js';
import { iconStyles } from '../styles/icon-styles.js';
import { baseStyles, pageStyles } from '../styles/shared.js';

interface World {
  /** The job that the new one is to be like. */
  readonly like: Job | null;
  readonly runners: readonly Runner[];
  readonly nodes: readonly NodeRecord[];
  readonly projects: readonly Project[];
  readonly experiments: readonly Experiment[];
}

/** What was typed when the page went away without a question, as when the token ran out. Without values of variables, which may be secret. */
let kept: { readonly from: string; readonly draft: JobDraft } | null = null;

/** A new job, from nothing or like an earlier one. What is typed is not left without a question. */
@customElement('svc-new-job-page')
export class SvcNewJobPage extends LitElement {
  @consume({ context: apiContext }) private api!: Api;
  @consume({ context: whoContext, subscribe: true }) @state() private who: Whoami | null = null;
  @consume({ context: isAwayContext, subscribe: true }) @state() private isAway = false;
  /** The id of the job that the new one is to be like; empty: from nothing. */
  @property() from = '';
  @state() private draft: JobDraft | null = null;
  @state() private issues: readonly Issue[] = [];
  @state() private problem = '';
  @state() private isBusy = false;
  @query('svc-job-form') private readonly form!: SvcJobForm;
  #untouched = '';
  #isLeft = false;
  /** The problem is that the server did not answer. */
  #isUnanswered = false;
  /** The request that was sent last, and its key: the same one again makes no second job. */
  #sent = { body: '', key: '' };

  readonly #world = new Loader(this, { load: (signal) => this.#load(signal) });

  static override styles = [
    baseStyles,
    iconStyles,
    pageStyles,
    css`
      :host {
        max-width: 84rem;
      }
      .summary a,
      svc-notice a {
        text-decoration: underline;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    leaveGuard.clear();
    if (!this.#isDirty || this.#isLeft) return;
    const env = this.draft!.env.map(({ name }) => ({ name, value: '' }));
    kept = { from: this.from, draft: { ...this.draft!, env } };
  }

  override willUpdate(changed: PropertyValues): void {
    const isBack = changed.get('isAway') === true && !this.isAway;
    if (isBack && this.#isUnanswered) this.problem = '';
  }

  override render() {
    return html`<a class="crumb" href=${paths.jobs()}>${icon('left', 14)}Jobs</a>
      <header class="page-head">
        <h1>${this.from === '' ? 'Submit a job' : 'Resubmit with changes'}</h1>
        ${this.#renderSource()}
      </header>
      ${this.#renderBody()}`;
  }

  #renderSource() {
    const like = this.#world.value?.like;
    if (!like) return nothing;
    return html`<p class="summary">A new job like <a href=${paths.job(like.id)}>${like.name}</a></p>`;
  }

  #renderBody() {
    if (this.who && !this.who.can_write) {
      return html`<div class="panel">
        <svc-notice icon="jobs" headline="This token can only read"
          >To submit a job, sign in with a token of write scope.
          <a href=${paths.jobs()}>Show all jobs</a></svc-notice
        >
      </div>`;
    }
    const world = this.#world.value;
    if (this.#world.error && !world) return renderPending(this.#world, 'job', paths.jobs());
    if (!world || !this.draft) return html`<div class="panel"><svc-skeleton rows="6"></svc-skeleton></div>`;
    if (world.like?.evaluation_id) return renderEvaluation(world.like);
    return html`<svc-job-form
      .draft=${this.draft}
      .issues=${this.issues}
      .problem=${this.problem}
      .busy=${this.isBusy}
      .runners=${world.runners}
      .nodes=${world.nodes}
      .projects=${world.projects}
      .experiments=${this.#experimentsOf(world)}
      .source=${world.like?.id ?? ''}
      .uncopied=${hiddenOf(world.like)}
      @svc-draft=${(event: CustomEvent<JobDraft>) => this.#onChange(event.detail)}
      @svc-submit=${() => void this.#submit()}
    ></svc-job-form>`;
  }

  /** Those of the project that is named, else all. */
  #experimentsOf({ experiments, projects }: World): readonly Experiment[] {
    const project = projects.find(({ name }) => name === this.draft!.project);
    return project ? experiments.filter(({ project_id }) => project_id === project.id) : experiments;
  }

  async #load(signal: AbortSignal): Promise<World> {
    const [like, runners, nodes, projects, experiments] = await Promise.all([
      this.from === '' ? null : getJob(this.api, this.from, signal),
      listRunners(this.api, signal),
      listNodes(this.api, signal),
      listProjects(this.api, signal),
      listExperiments(this.api, signal),
    ]);
    const world = { like, runners, nodes, projects, experiments };
    this.#begin(world);
    return world;
  }

  #begin(world: World): void {
    const fresh = toFirstDraft(world);
    this.#untouched = JSON.stringify(fresh);
    this.draft = kept?.from === this.from ? kept.draft : fresh;
    kept = null;
    if (this.#isDirty) this.#onDraft(this.draft);
  }

  get #isDirty(): boolean {
    return this.draft !== null && JSON.stringify(this.draft) !== this.#untouched;
  }

  #onChange(draft: JobDraft): void {
    this.issues = issuesLeft(this.issues, this.draft!, draft);
    this.problem = '';
    this.#onDraft(draft);
  }

  #onDraft(draft: JobDraft): void {
    this.draft = draft;
    if (this.#isDirty) leaveGuard.set(() => this.#askToLeave());
    else leaveGuard.clear();
  }

  async #askToLeave(): Promise<boolean> {
    this.#isLeft = await ask({
      headline: 'Leave without submitting?',
      text: 'What you typed is lost.',
      confirm: 'Leave',
      dismiss: 'Keep editing',
    });
    return this.#isLeft;
  }

  async #submit(): Promise<void> {
    const { body, issues } = toSubmit(
      this.draft!,
      this.#world.value!.runners.find(({ name }) => name === this.draft!.runner),
    );
    this.issues = issues;
    this.problem = '';
    if (issues.length > 0) return void this.#showProblem();
    const text = JSON.stringify(body);
    if (text !== this.#sent.body) this.#sent = { body: text, key: newKey() };
    this.isBusy = true;
    try {
      const job = await submitJob(this.api, body, this.#sent.key);
      this.#isLeft = true;
      leaveGuard.clear();
      toast(`${job.name} is submitted.`);
      navigate(paths.job(job.id));
    } catch (error) {
      this.#onRefusal(toApiError(error));
    }
    this.isBusy = false;
  }

  #onRefusal(error: ApiError): void {
    this.issues = error.issues;
    this.#isUnanswered = error.code === 'network';
    this.problem = error.issues.length > 0 ? '' : error.message;
    void this.#showProblem();
  }

  async #showProblem(): Promise<void> {
    await this.updateComplete;
    await this.form?.showProblem();
  }
}

/** Where no node has a GPU, a new job asks for none, as `svc submit` does. */
function toFirstDraft({ like, runners, nodes, projects, experiments }: World): JobDraft {
  const hasNoGpu = nodes.length > 0 && nodes.every(({ slots }) => slots.length === 0);
  if (!like) return { ...EMPTY_DRAFT, isCpuOnly: hasNoGpu };
  const project = projects.find(({ id }) => id === like.project_id)?.name ?? like.project ?? '';
  const experiment = experiments.find(({ id }) => id === like.experiment_id)?.name ?? like.experiment ?? '';
  return toDraft(like, { project, experiment }, runners);
}

function hiddenOf(like: Job | null): string[] {
  return Object.entries(like?.env ?? {}).flatMap(([name, value]) => (value === HIDDEN_VALUE ? [name] : []));
}

/** A job of the same command would belong to no evaluation, and its result would go nowhere. */
function renderEvaluation({ checkpoint_id: checkpoint, command }: Job) {
  return html`<div class="panel">
    <svc-notice
      icon="jobs"
      headline="This job evaluates a checkpoint"
      command=${toCommandLine(['svc', 'evaluate', checkpoint ?? '', ...command])}
      >A copy of it would belong to no evaluation. Evaluate the checkpoint again instead:</svc-notice
    >
  </div>`;
}

/** `crypto.randomUUID` is missing where the console is served by plain HTTP from another host. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
