import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const ANSWER_LIMIT_MS = 5_000;

function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

function open(url: URL): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1';
  const port = Number(url.port || '6379');
  return url.protocol === 'rediss:' ? connectTls({ host, port, servername: host }) : connect({ host, port });
}

/**
 * Resolves once the Redis of a `redis:` or `rediss:` URL answers PING; rejects with the reason otherwise. Two commands of
 * the protocol are less than a client library in a package that never talks to Redis but for this.
 */
export function redisAnswers(redisUrl: string): Promise<void> {
  const url = new URL(redisUrl);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const login = password === '' ? '' : command('AUTH', ...(user === '' ? [password] : [user, password]));
  return new Promise((resolve, reject) => {
    const socket = open(url);
    let said = '';
    const finish = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    socket.setTimeout(ANSWER_LIMIT_MS, () => finish(new Error(`no answer in ${ANSWER_LIMIT_MS} ms`)));
    socket.once('error', finish);
    socket.once('close', () => finish(new Error('the connection was closed')));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      const refusal = /^-(.*)\r$/m.exec(said);
      if (refusal !== null) finish(new Error(refusal[1]));
      else if (said.includes('+PONG\r\n')) finish();
    });
    socket.write(login + command('PING'));
  });
}
