import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that wait on a connection before no more is read of it. */
const READ_AHEAD = 4;
/** What one read may bring beyond that; a connection with more is closed. */
const MOST_WAITING = 64;

/** Looks at an output that nobody takes before it is given up; counted in looks, as time in which this process stood still is ours. */
export const PATIENCE = 6;

/** What a socket says of its output in libuv; the only way to see that a large write goes on. */
interface Output {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/**
 * A connection, on which one request is answered at a time: the next is begun when the answer before it has been handed
 * over completely. So whoever sends requests and reads no answers has one answer made, not as many as fit into a packet.
 */
export class Connection {
  /** The answer under way. */
  answer: ServerResponse | null = null;
  #waiting: { res: ServerResponse; handle: () => void }[] = [];
  #held = false;
  #sent = 0;
  #patience = PATIENCE;

  constructor(
    readonly socket: Socket,
    /** Of the peer. */
    readonly address: string,
  ) {}

  /** Has the request handled when its turn comes, in the context (trace) that it came in. */
  take(res: ServerResponse, handle: () => void): void {
    if (this.answer === null) {
      this.#begin(res, handle);
      return;
    }
    if (this.#waiting.length >= MOST_WAITING) {
      this.socket.destroy();
      return;
    }
    this.#waiting.push({ res, handle: AsyncResource.bind(handle) });
    if (this.#waiting.length < READ_AHEAD) return;
    this.#held = true;
    this.socket.pause();
  }

  /** Answers nothing more than what is under way. */
  dropWaiting(): void {
    this.#waiting = [];
  }

  /**
   * Looks at the output that is pending. False once it has been taken too slowly for more than {@link PATIENCE} looks on end:
   * each costs as much as `least` bytes that left make up for, so who takes a byte now and then is given up like who takes none.
   */
  isRead(least: number): boolean {
    const { _handle: output } = this.socket as Socket & { _handle?: Output | null };
    const pending = this.socket.writableLength > 0;
    const sent = output ? output.bytesWritten - output.writeQueueSize : 0;
    this.#patience = pending ? Math.min(PATIENCE, this.#patience + (sent - this.#sent) / least) - 1 : PATIENCE;
    this.#sent = sent;
    return this.#patience >= 0;
  }

  #begin(res: ServerResponse, handle: () => void): void {
    this.answer = res;
    res.once('close', () => {
      this.answer = null;
      const { socket } = this;
      if (socket.destroyed || socket.writableEnded) this.dropWaiting();
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (this.#held && this.#waiting.length === 0) {
        this.#held = false;
        socket.resume();
      }
      this.#begin(next.res, next.handle);
    });
    handle();
  }
}
