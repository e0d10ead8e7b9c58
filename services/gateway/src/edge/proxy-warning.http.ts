import { BlockList, isIP, isIPv4 } from 'node:net';
import { onAnswerEnd } from '@ecf/http';
import type { Logger } from '@ecf/kit/telemetry';
import type { RequestHandler } from 'express';
import { callOf } from './edge.http.js';

const HOUR_MS = 3_600_000;
/** This number of requests from one sender is not a coincidence. */
const REQUESTS = 100;

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['127.0.0.0', 8],
  ['100.64.0.0', 10],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv4');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');
PRIVATE.addAddress('::1', 'ipv6');

/**
 * Warns once an hour if a hundred requests of public operations came from one private address and from no other: it is
 * probably a proxy that TRUSTED_PROXIES does not name, so that all senders share one rate and one share of kept bytes. Where
 * few requests come, the hundred may take longer than an hour.
 * @returns notes the address of a request
 */
export function createProxyWarning(logger: Pick<Logger, 'warn'>, clock: () => Date): (address: string) => void {
  const nothing = { address: '', requests: 0, isOnlyOne: true };
  let hour = { began: clock().getTime(), ...nothing };
  return (address) => {
    const now = clock().getTime();
    const isDecided = hour.requests >= REQUESTS || !hour.isOnlyOne;
    if (isDecided && now - hour.began >= HOUR_MS) hour = { began: now, ...nothing };
    if (hour.requests === 0) hour.address = address;
    hour.requests += 1;
    hour.isOnlyOne &&= address === hour.address;
    if (hour.requests !== REQUESTS || !hour.isOnlyOne || !isPrivate(address)) return;
    logger.warn(
      { sender: address, requests: REQUESTS },
      'all public requests come from one private address; if it is a reverse proxy, name it in TRUSTED_PROXIES: its senders share one limit',
    );
  };
}

/** Watches the senders of public operations. */
export function watchSenders(logger: Logger, clock: () => Date): RequestHandler {
  const note = createProxyWarning(logger, clock);
  return (_req, res, next) => {
    onAnswerEnd(res, () => {
      const { operation, sender = '' } = callOf(res);
      if (operation?.access === 'public') note(sender);
    });
    next();
  };
}

function isPrivate(address: string): boolean {
  return isIP(address) !== 0 && PRIVATE.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
