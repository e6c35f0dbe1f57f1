import { createServer, IncomingMessage, ServerResponse, STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import express, { type Express } from 'express';
import { badRequest, PROBLEM_TYPE } from './reply.js';

/** Longer than the idle time of common load balancers, so that they close first and never meet a closing socket. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_WITHIN_MS = 20_000;
const REQUEST_WITHIN_MS = 60_000;

/** After this long a connection that still has not finished its request is cut. */
const CLOSE_WITHIN_MS = 10_000;
const CLOSE_POLL_MS = 100;

/**
 * Requests and responses that are born with the prototypes which Express would give them.
 *
 * Express changes the prototype of each request and response when it takes it over, and from then on Node's own HTTP
 * code is slow with it: 160 µs of CPU per request instead of 40, measured. Setting the prototype that an object already
 * has changes nothing.
 */
function bornForExpress(app: Express): {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
} {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  Object.setPrototypeOf(AppRequest.prototype, express.request);
  Object.setPrototypeOf(AppResponse.prototype, express.response);
  for (const prototype of [AppRequest.prototype, AppResponse.prototype]) {
    Object.defineProperty(prototype, 'app', { value: app });
  }
  app.request = AppRequest.prototype as Express['request'];
  app.response = AppResponse.prototype as Express['response'];
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse as typeof ServerResponse };
}

/** The server with its limits in time; the caller listens. */
export function createHttpServer(app: Express): Server {
  const server = createServer(
    {
      ...bornForExpress(app),
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
    },
    app,
  );
  server.on('clientError', answerBrokenRequest);
  return server;
}

/** Node could not read the request as HTTP; it never reached the app, but the sender still gets a problem. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const status = tooLarge ? 431 : 400;
  const { text } = badRequest('', tooLarge ? 'the headers are too large' : 'this is not a valid HTTP request');
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: ${PROBLEM_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** Takes no new connection, lets requests in flight finish, and cuts those that don't. */
export function closeHttpServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy when closing began is idle once it was answered, and then has to be told.
    const poll = setInterval(() => server.closeIdleConnections(), CLOSE_POLL_MS);
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
    server.close(() => {
      clearInterval(poll);
      clearTimeout(cut);
      resolve();
    });
  });
}
