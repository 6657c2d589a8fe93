import type { Experiment, Project, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Experiment, Project };

const LIST_PROJECTS = endpoint<typeof routes.listProjects>('GET', '/projects');
const LIST_EXPERIMENTS = endpoint<typeof routes.listExperiments>('GET', '/experiments');

export async function listProjects(api: Api, signal?: AbortSignal): Promise<Project[]> {
  return (await api.call(LIST_PROJECTS, { query: { limit: 1000 }, signal })).items;
}

export async function listExperiments(api: Api, signal?: AbortSignal): Promise<Experiment[]> {
  return (await api.call(LIST_EXPERIMENTS, { query: { limit: 1000 }, signal })).items;
}
