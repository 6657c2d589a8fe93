import type { Runner } from '@svc/contract';

export const PROCESS: Runner = {
  name: 'process',
  placement: 'slots',
  options_schema: { type: 'object', properties: {}, additionalProperties: false },
};

export const DOCKER: Runner = {
  name: 'docker',
  placement: 'slots',
  options_schema: {
    type: 'object',
    required: ['image'],
    additionalProperties: false,
    properties: {
      pull: { enum: ['always', 'missing', 'never'], description: 'When the image is pulled.' },
      image: { type: 'string', description: 'The image, such as pytorch/pytorch:2.4.0.' },
      mounts: {
        type: 'array',
        items: { type: 'string', description: 'SOURCE:TARGET or SOURCE:TARGET:ro.' },
        description: 'Directories and files of the host.',
      },
      memory_mb: { type: 'integer', description: 'Memory in MiB.' },
      cpus: { type: 'number', description: 'Processor cores.' },
      entrypoint: { type: 'array', items: { type: 'string' } },
    },
  },
};

/** As a third party's may be: one switch, one object, and whatever else it is given. */
export const OPEN: Runner = {
  name: 'open',
  placement: 'external',
  options_schema: {
    type: 'object',
    properties: { flag: { type: 'boolean' }, deep: { type: 'object' } },
    additionalProperties: true,
  },
};
