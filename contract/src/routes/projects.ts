import { Type } from 'typebox';
import { listOf, page, route, strict, text } from '../route.js';
import { Experiment, Name, Project } from '../records/project.js';

const Description = text(10_000);

export const listProjects = route({
  id: 'projects.list',
  method: 'GET',
  path: '/projects',
  scope: 'read',
  summary: 'Projects, newest first.',
  query: strict(page()),
  answers: { 200: listOf(Project) },
});

export const createProject = route({
  id: 'projects.create',
  method: 'POST',
  path: '/projects',
  scope: 'write',
  summary: 'Create a project.',
  body: strict({ name: Name, description: Type.Optional(Description) }),
  answers: { 201: Project },
});

export const getProject = route({
  id: 'projects.get',
  method: 'GET',
  path: '/projects/{project_id}',
  scope: 'read',
  summary: 'One project.',
  answers: { 200: Project },
});

export const updateProject = route({
  id: 'projects.update',
  method: 'PATCH',
  path: '/projects/{project_id}',
  scope: 'write',
  summary: 'Change name or description.',
  body: strict({ name: Type.Optional(Name), description: Type.Optional(Description) }),
  answers: { 200: Project },
});

export const deleteProject = route({
  id: 'projects.delete',
  method: 'DELETE',
  path: '/projects/{project_id}',
  scope: 'write',
  summary: 'Delete an empty project; 409 when it has experiments, runs or jobs.',
  answers: { 200: Project },
});

export const listExperiments = route({
  id: 'experiments.list',
  method: 'GET',
  path: '/experiments',
  scope: 'read',
  summary: 'Experiments, newest first.',
  query: strict({ project_id: Type.Optional(Type.String()), ...page() }),
  answers: { 200: listOf(Experiment) },
});

export const createExperiment = route({
  id: 'experiments.create',
  method: 'POST',
  path: '/experiments',
  scope: 'write',
  summary: 'Create an experiment; without a project it belongs to `default`.',
  body: strict({
    name: Name,
    project_id: Type.Optional(Type.String()),
    description: Type.Optional(Description),
  }),
  answers: { 201: Experiment },
});

export const getExperiment = route({
  id: 'experiments.get',
  method: 'GET',
  path: '/experiments/{experiment_id}',
  scope: 'read',
  summary: 'One experiment.',
  answers: { 200: Experiment },
});

export const updateExperiment = route({
  id: 'experiments.update',
  method: 'PATCH',
  path: '/experiments/{experiment_id}',
  scope: 'write',
  summary: 'Change name, description or project.',
  body: strict({
    name: Type.Optional(Name),
    project_id: Type.Optional(Type.String()),
    description: Type.Optional(Description),
  }),
  answers: { 200: Experiment },
});

export const deleteExperiment = route({
  id: 'experiments.delete',
  method: 'DELETE',
  path: '/experiments/{experiment_id}',
  scope: 'write',
  summary: 'Delete an empty experiment; 409 when it has runs or jobs.',
  answers: { 200: Experiment },
});
