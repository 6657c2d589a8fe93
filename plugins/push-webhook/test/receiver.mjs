// A receiver that is not ours checks each request with the library of Standard Webhooks: `node receiver.mjs SECRET`. It prints its address, then
// a line of JSON for each request. An empty secret: it checks nothing.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const [, , secret] = process.argv;
const webhook = secret ? new Webhook(secret) : null;

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { headers } = request;
  try {
    const body = webhook ? webhook.verify(text, headers) : JSON.parse(text);
    response.writeHead(204).end();
    process.stdout.write(`${JSON.stringify({ headers, body })}\n`);
  } catch (error) {
    response.writeHead(401).end();
    process.stdout.write(`${JSON.stringify({ headers, error: error.message })}\n`);
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/hook` })}\n`);
});
