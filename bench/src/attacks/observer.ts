// A worker thread beside the attack: polls the health of the deployment, and calls it in the name of another account. The load of the
// attack does not delay it.
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { form } from './attack.js';
import type { Observation, ObserverData } from './observation.js';

const POLL_MS = 50;
const { baseUrl, key, issuer, date, neighbour, documents } = workerData as ObserverData;
const agent = new http.Agent({ keepAlive: true });
let health = watch(() => call('GET', '/health/live', {}));
let account = watch(callOfNeighbour);

parentPort?.on('message', (message: 'begin' | 'report') => {
  if (message === 'report') {
    const observation: Observation = { health: health.read(), account: account.read() };
    parentPort?.postMessage(observation);
    return;
  }
  health.stop();
  account.stop();
  health = watch(() => call('GET', '/health/live', {}));
  account = watch(callOfNeighbour);
});

/** Repeats a call; its waits in milliseconds, with that of the call that still waits. */
function watch(send: () => Promise<string>) {
  const waits: number[] = [];
  const answers: Record<string, number> = {};
  let began = performance.now();
  let ended = false;
  void (async () => {
    while (!ended) {
      began = performance.now();
      const answer = await send();
      waits.push(performance.now() - began);
      answers[answer] = (answers[answer] ?? 0) + 1;
      began = Number.NaN;
      await delay(POLL_MS);
    }
  })();
  return {
    read: () => ({ waits, answers, waiting: Number.isNaN(began) ? null : performance.now() - began }),
    stop() {
      ended = true;
    },
  };
}

function callOfNeighbour(): Promise<string> {
  if (neighbour === 'lists') {
    return call('GET', '/invoices/', { 'x-api-key': key, 'rnc-issuing': issuer, 'start-date': date, 'end-date': date });
  }
  const document = documents.pop();
  if (document === undefined) return delay(1_000, 'no document left');
  const body = form({ data: document });
  const boundary = body.subarray(2, body.indexOf('\r')).toString();
  const headers = { 'x-api-key': key, 'content-type': `multipart/form-data; boundary=${boundary}` };
  return call('POST', '/fe_Submit', headers, body);
}

/** Status and code of the answer. */
function call(method: string, path: string, headers: Record<string, string>, body?: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const request = http.request(new URL(path, baseUrl), { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('close', () => resolve(`${response.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim()));
    });
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.end(body);
  });
}
