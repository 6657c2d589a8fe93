import { DispatchFailed, type JobUser } from '@svc/agent';

/** Whose processes run in a container. */
export interface ContainerUser {
  /** As the engine takes it; null: the user that the image names. */
  readonly spec: string | null;
  /** The name and the home of a user whom the image need not know; null: the image knows its user. */
  readonly unknownToImage: Pick<JobUser, 'name'> | null;
  /** On the host its processes have no more rights than a process that the agent would start itself, and never those of root. */
  readonly isConfined: boolean;
}

export interface UserChoice {
  /** `user` of the job. */
  readonly wanted: string | null;
  /** Of `--run-as`. */
  readonly jobUser: JobUser | null;
  /** As whom the agent runs. */
  readonly agent: Pick<JobUser, 'name' | 'uid' | 'gid'>;
  /** Root of a container is a user without rights on the host. */
  readonly isRootless: boolean;
  readonly allowAnyUser: boolean;
  readonly nodeName: string;
}

/**
 * A container runs as the process runner would run the job: as the user of `--run-as`, else as the agent. Only for an agent that is root, or with an engine
 * without root, the image or the job chooses. Throws DispatchFailed.
 */
export function chooseUser(choice: UserChoice): ContainerUser {
  const { wanted, jobUser, agent, isRootless, allowAnyUser, nodeName } = choice;
  if (jobUser !== null && isRootless)
    throw new DispatchFailed(
      `the engine of ${nodeName} runs without root, and cannot run a container as ${jobUser.name}: use the engine of root, or leave out --run-as`,
    );
  const own = jobUser ?? (isRootless || agent.uid === 0 ? null : agent);
  if (own === null) return { spec: wanted, unknownToImage: null, isConfined: isRootless };
  const spec = `${own.uid}:${own.gid}`;
  if (wanted === null || [own.name, String(own.uid), spec].includes(wanted))
    return { spec, unknownToImage: own, isConfined: true };
  if (allowAnyUser) return { spec: wanted, unknownToImage: null, isConfined: false };
  throw new DispatchFailed(
    `containers of ${nodeName} run as ${own.name} (${spec}), and this job wants the user ${wanted}: leave user out, or write runnerDocker({ allowAnyUser: true }) in the configuration file of that agent (see docs/runners.md), and restart it; running jobs continue`,
  );
}
