import { CLOSE } from '@svc/contract';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** A hello of the largest node, with thousands of attempts, fits. */
const MAX_FIRST_FRAME_BYTES = 4 * 1024 * 1024;
const CUT_AFTER_MS = 1_000;

/**
 * Who has said no hello yet may not send as much at once as an agent that has. ws knows one limit for all sockets, so until the
 * first frame is whole the bytes are counted on the connection below.
 */
export function limitFirstFrame(socket: WebSocket, connection: Socket): void {
  let receivedBytes = 0;
  const count = (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes <= MAX_FIRST_FRAME_BYTES) return;
    stop();
    socket.close(CLOSE.tooLarge, `a hello may have at most ${MAX_FIRST_FRAME_BYTES} bytes`);
    socket.pause();
    setTimeout(() => socket.terminate(), CUT_AFTER_MS).unref();
  };
  const stop = () => void connection.off('data', count);
  connection.on('data', count);
  socket.once('message', stop);
}
