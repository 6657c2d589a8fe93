import type { Experiment, Project, routes } from '@svc/contract';
import { endpoint, type Api } from './api.js';

export type { Experiment, Project };

const LIST_PROJECTS = endpoint<typeof routes.listProjects>('GET', '/projects');
const GET_PROJECT = endpoint<typeof routes.getProject>('GET', '/projects/{project_id}');
const CREATE_PROJECT = endpoint<typeof routes.createProject>('POST', '/projects');
const UPDATE_PROJECT = endpoint<typeof routes.updateProject>('PATCH', '/projects/{project_id}');
const DELETE_PROJECT = endpoint<typeof routes.deleteProject>('DELETE', '/projects/{project_id}');
const LIST_EXPERIMENTS = endpoint<typeof routes.listExperiments>('GET', '/experiments');
const GET_EXPERIMENT = endpoint<typeof routes.getExperiment>('GET', '/experiments/{experiment_id}');
const CREATE_EXPERIMENT = endpoint<typeof routes.createExperiment>('POST', '/experiments');
const UPDATE_EXPERIMENT = endpoint<typeof routes.updateExperiment>('PATCH', '/experiments/{experiment_id}');
const DELETE_EXPERIMENT = endpoint<typeof routes.deleteExperiment>('DELETE', '/experiments/{experiment_id}');

/** What people say of a project or an experiment. */
export interface PlaceDraft {
  readonly name: string;
  readonly description: string;
}

export async function listProjects(api: Api, signal?: AbortSignal): Promise<Project[]> {
  return (await api.call(LIST_PROJECTS, { query: { limit: 1000 }, signal })).items;
}

export async function listExperiments(api: Api, signal?: AbortSignal): Promise<Experiment[]> {
  return (await api.call(LIST_EXPERIMENTS, { query: { limit: 1000 }, signal })).items;
}

export function getProject(api: Api, id: string, signal?: AbortSignal): Promise<Project> {
  return api.call(GET_PROJECT, { params: { project_id: id }, signal });
}

export function createProject(api: Api, draft: PlaceDraft): Promise<Project> {
  return api.call(CREATE_PROJECT, { body: draft });
}

export function updateProject(api: Api, id: string, draft: PlaceDraft): Promise<Project> {
  return api.call(UPDATE_PROJECT, { params: { project_id: id }, body: draft });
}

/** The server refuses it while the project has experiments, runs or jobs. */
export function deleteProject(api: Api, id: string): Promise<Project> {
  return api.call(DELETE_PROJECT, { params: { project_id: id } });
}

export function getExperiment(api: Api, id: string, signal?: AbortSignal): Promise<Experiment> {
  return api.call(GET_EXPERIMENT, { params: { experiment_id: id }, signal });
}

export function createExperiment(api: Api, projectId: string, draft: PlaceDraft): Promise<Experiment> {
  return api.call(CREATE_EXPERIMENT, { body: { ...draft, project_id: projectId } });
}

export function updateExperiment(api: Api, id: string, draft: PlaceDraft): Promise<Experiment> {
  return api.call(UPDATE_EXPERIMENT, { params: { experiment_id: id }, body: draft });
}

/** The server refuses it while the experiment has runs or jobs. */
export function deleteExperiment(api: Api, id: string): Promise<Experiment> {
  return api.call(DELETE_EXPERIMENT, { params: { experiment_id: id } });
}
