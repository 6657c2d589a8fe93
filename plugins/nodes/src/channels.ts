import { ChannelMessage, type AttemptKey, type ChannelAck, type ChannelFrame } from '@svc/contract';
import {
  compileCheck,
  HttpError,
  isDatabaseOutage,
  parseJson,
  refuse,
  type Check,
  type PluginContext,
} from '@svc/kernel';
import type { Events } from '@svc/plugin-events';
import type { Static, TSchema } from 'typebox';
import type { AgentNode } from './hooks.js';

/** Where a message comes from. An agent may name any attempt: the handler must check that it runs on that node. */
export interface MessageSource {
  readonly node: AgentNode;
  /** null when the message is about the host. */
  readonly attempt: AttemptKey | null;
}

/** Resolves when the message is stored. A message may be delivered more than once. An error with a 4xx status refuses the message for good. */
export type MessageHandler<Message> = (message: Message, from: MessageSource) => Promise<void>;

interface Channel {
  readonly check: Check;
  readonly handle: MessageHandler<never>;
}

type Refusal = ChannelAck['refused'][number];

/** After this many failures of the handler, other than outages of the database, a message is refused: agents retry for about half a minute. */
const MAX_TRIES = 8;
const MAX_FAILING = 10_000;
const checkEnvelope = compileCheck(ChannelMessage, 'leave');

/** The channels of agent plugins: each message goes to the handler of its channel, one at a time. */
export class Channels {
  readonly #channels = new Map<string, Channel>();
  /** The failures of each message that its handler has failed on. */
  readonly #failing = new Map<string, number>();
  /** The nodes and channels whose first refusal was reported as an event. */
  readonly #reported = new Set<string>();

  constructor(
    private readonly ctx: PluginContext,
    private readonly events: Events,
  ) {}

  get names(): string[] {
    return [...this.#channels.keys()];
  }

  open<Schema extends TSchema>(name: string, schema: Schema, handle: MessageHandler<Static<Schema>>): void {
    if (this.#channels.has(name)) throw new Error(`there is a channel "${name}" already`);
    this.#channels.set(name, { check: compileCheck(schema, 'leave'), handle });
  }

  /** Handles the messages up to the first that cannot be handled now, and returns the acknowledgement. */
  async take({ channel: name, file, from, lines }: ChannelFrame, node: AgentNode): Promise<ChannelAck> {
    const channel = this.#channels.get(name);
    const refused: Refusal[] = [];
    let offset = from;
    for (const { to, text } of channel ? lines : []) {
      const outcome = await this.#takeLine(channel!, text, node, `${node.id} ${name} ${file} ${to}`);
      if (outcome === 'later') break;
      if (outcome !== 'stored') refused.push({ to, reason: outcome.reason });
      offset = to;
    }
    if (refused[0]) await this.#reportRefusal(name, node, refused[0].reason);
    return { type: 'channel_ack', channel: name, file, offset, refused };
  }

  async #takeLine(
    { check, handle }: Channel,
    text: string,
    node: AgentNode,
    key: string,
  ): Promise<'stored' | 'later' | { readonly reason: string }> {
    try {
      const { message, attempt = null } = parseEnvelope(text);
      refuse(check(message));
      await handle(message as never, { node, attempt });
      this.#failing.delete(key);
      return 'stored';
    } catch (error) {
      return this.#outcomeOf(error, key);
    }
  }

  #outcomeOf(error: unknown, key: string): 'later' | { readonly reason: string } {
    if (error instanceof HttpError && error.status < 500) return { reason: error.message };
    if (this.ctx.signal.aborted || isDatabaseOutage(error)) return 'later';
    const tries = (this.#failing.get(key) ?? 0) + 1;
    if (this.#failing.size >= MAX_FAILING) this.#failing.clear();
    this.#failing.set(key, tries);
    if (tries === 1)
      this.ctx.log.error({ err: error, key }, 'a message of an agent plugin cannot be handled');
    if (tries < MAX_TRIES) return 'later';
    this.#failing.delete(key);
    return { reason: `the server failed on it ${tries} times; its log says why` };
  }

  /** Appends an event, once for each node and channel: the agent keeps every refused message and continues with the rest. */
  async #reportRefusal(channel: string, node: AgentNode, reason: string): Promise<void> {
    const key = `${node.id} ${channel}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    try {
      await this.ctx.transaction((tx) =>
        this.events.append(tx, {
          type: 'CUSTOM',
          severity: 'warning',
          title: `A message of agent ${node.name} was refused`,
          message: `Channel ${channel}: ${reason}. The agent keeps what is refused in channels/${channel}.refused.jsonl and goes on with the rest.`,
          node_id: node.id,
          data: { channel, reason },
        }),
      );
    } catch (err) {
      this.#reported.delete(key);
      this.ctx.log.error(
        { err, node_id: node.id, channel, reason },
        'cannot store the event about a refused message',
      );
    }
  }
}

function parseEnvelope(text: string): ChannelMessage {
  let line: unknown;
  try {
    line = parseJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError('validation_error', 'the message is no JSON');
  }
  refuse(checkEnvelope(line));
  return line as ChannelMessage;
}
