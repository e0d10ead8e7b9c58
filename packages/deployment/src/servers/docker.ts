import { existsSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** Whether a container engine answers; checked once. */
export function dockerAnswers(): Promise<boolean> {
  answer ??= probe();
  return answer;
}

let answer: Promise<boolean> | undefined;
const TIMEOUT_MS = 500;

async function probe(): Promise<boolean> {
  for (const address of addresses()) if (await ping(address)) return true;
  return false;
}

function addresses(): net.NetConnectOpts[] {
  const host = process.env.DOCKER_HOST;
  if (host?.startsWith('unix://') === true) return [{ path: host.slice('unix://'.length) }];
  if (host !== undefined && URL.canParse(host)) {
    const { hostname, port } = new URL(host);
    return [{ host: hostname, port: Number(port || 2375) }];
  }
  const runtime = process.env.XDG_RUNTIME_DIR ?? `/run/user/${process.getuid?.() ?? 0}`;
  const sockets = [
    '/var/run/docker.sock',
    path.join(os.homedir(), '.docker/run/docker.sock'),
    path.join(runtime, 'docker.sock'),
    path.join(runtime, 'podman/podman.sock'),
  ];
  return sockets.filter((socket) => existsSync(socket)).map((socket) => ({ path: socket }));
}

function ping(address: net.NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(address);
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(TIMEOUT_MS, () => end(false));
    socket.once('error', () => end(false));
    socket.once('connect', () => socket.write('GET /_ping HTTP/1.0\r\n\r\n'));
    socket.once('data', (data) => end(/^HTTP\/1\.\d 200 /.test(data.toString())));
  });
}
