import type { Client } from '@svc/client';
import { NextActionRecord, strict, type TOOL_INPUTS, type ToolName } from '@svc/contract';
import { Type, type Static, type TSchema } from 'typebox';
import type { Found } from '../answer/fit.js';

export type ToolGroup = 'observe' | 'control' | 'semantic';

/** The REST API in the name of the caller. */
export interface Call {
  readonly client: Client;
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal;
}

export type ArgsOf<Name extends ToolName> = Static<(typeof TOOL_INPUTS)[Name]>;

interface ToolFacts<Name extends ToolName> {
  readonly name: Name;
  readonly title: string;
  readonly description: string;
  readonly group: ToolGroup;
  /** Of the fields of the answer; those that every answer has are added. */
  readonly output: Readonly<Record<string, TSchema>>;
  /** Name and items of the list that is cut first. */
  readonly list?: readonly [name: string, items: TSchema];
  /** Control tools alone: it stops or replaces work. */
  readonly isDestructive?: boolean;
  /** Control tools alone: the same call again does nothing more. */
  readonly isIdempotent?: boolean;
}

export interface Tool extends ToolFacts<ToolName> {
  readonly outputSchema: TSchema;
  run(call: Call, args: Readonly<Record<string, unknown>>): Promise<Found>;
}

/** `run` gets arguments that have passed the input schema of the tool. */
export function defineTool<Name extends ToolName>(
  facts: ToolFacts<Name>,
  run: (call: Call, args: ArgsOf<Name>) => Promise<Found>,
): Tool {
  return { ...facts, outputSchema: toOutputSchema(facts), run: run as Tool['run'] };
}

function toOutputSchema({ output, list }: Pick<Tool, 'output' | 'list'>): TSchema {
  return strict({
    ...output,
    ...(list && {
      [list[0]]: Type.Array(list[1]),
      left: Type.Integer({ minimum: 0, description: 'Items that are not shown here.' }),
      left_is_minimum: Type.Boolean({ description: 'true: at least `left` of them.' }),
    }),
    cut: Type.Optional(Type.Array(Type.String(), { description: 'What was shortened to fit.' })),
    next_actions: Type.Array(NextActionRecord, {
      description: 'What helps next, best first. Pass `args` as they are.',
    }),
  });
}

/** Some properties of a record of the contract. */
export function pick<P extends Record<string, TSchema>, K extends keyof P & string>(
  { properties }: { properties: P },
  ...names: K[]
): Pick<P, K> {
  return Object.fromEntries(names.map((name) => [name, properties[name]])) as unknown as Pick<P, K>;
}

/** The same properties of a record. */
export function only<T extends object>(record: T, schemas: Readonly<Record<string, TSchema>>): Partial<T> {
  return Object.fromEntries(
    Object.keys(schemas)
      .filter((name) => name in record)
      .map((name) => [name, (record as Record<string, unknown>)[name]]),
  ) as Partial<T>;
}

export function toAction(
  tool: ToolName,
  args: Readonly<Record<string, unknown>>,
  reason: string,
): NextActionRecord {
  return { tool, args: { ...args }, reason };
}
