import { html, type TemplateResult } from 'lit';
import { paths } from '../paths.js';

/** How a first node comes, for who can make tokens here and who cannot; `agentCommands` are the commands of the text. */
export function renderAgentSteps(canWrite: boolean): TemplateResult {
  const inTerminal = html`the first command on the host of the server (with the <code>--data-dir</code> of the
    server, if it has one of its own)`;
  return html`${
    canWrite
      ? html`Make a token for the host under <a href=${paths.tokens({ new: '1' })}>Tokens</a>, or by
          ${inTerminal}.`
      : html`A token for the host is made by ${inTerminal}.`
  }
  Then start the agent on the host by the second command, with that token in place of TOKEN.`;
}

export function agentCommands(): string[] {
  return [
    'svc token create --name gpu-1 --scope agent',
    `SVC_TOKEN=TOKEN svc agent --url ${window.location.origin} --name gpu-1`,
  ];
}
