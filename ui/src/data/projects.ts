import type { Experiment, Project } from '@svc/contract';
import type { Api } from './api.js';

export type { Experiment, Project };

export async function listProjects(api: Api, signal?: AbortSignal): Promise<Project[]> {
  return (await api.get<{ items: Project[] }>('/projects', { limit: 1000 }, signal)).items;
}

export async function listExperiments(api: Api, signal?: AbortSignal): Promise<Experiment[]> {
  return (await api.get<{ items: Experiment[] }>('/experiments', { limit: 1000 }, signal)).items;
}
