import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingerAndClose } from './lingering-close.js';

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
  /** The request that came last, for as long as it may be incomplete. */
  #latest: IncomingMessage | null = null;
  #taken = 0;
  #waiting: { res: ServerResponse; handle: () => void }[] = [];
  #held = false;
  #closing = false;
  #ended = false;
  /** Whether there may be more to read than is read. */
  #surplus = false;
  #sent = 0;
  #patience = PATIENCE;
  /** Since when nothing is read; null while it is. */
  #unreadSince: number | null = null;
  #unreadMs = 0;

  constructor(
    readonly socket: Socket,
    /** Of the peer. */
    readonly address: string,
    /** Milliseconds of a clock that never goes back. */
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    const close = socket.destroySoon;
    // What the server calls to close after an answer, and whoever else does.
    socket.destroySoon = () => {
      if (this.#ended) return;
      this.#ended = true;
      this.#closing = true;
      this.#held = false;
      if (this.#surplus || this.arriving !== null) lingerAndClose(socket);
      else close.call(socket);
    };
    socket.on('pause', () => {
      this.#unreadSince ??= this.elapsed();
    });
    socket.on('resume', () => {
      if (this.#held) {
        // The server reads on after each answer.
        socket.pause();
        return;
      }
      this.#count();
      this.#unreadSince = null;
    });
  }

  /** The request of which the head came and not yet the whole body. */
  get arriving(): IncomingMessage | null {
    return this.#latest?.complete === false ? this.#latest : null;
  }

  /** Requests that came whole. */
  get arrived(): number {
    return this.arriving === null ? this.#taken : this.#taken - 1;
  }

  /** Whether nothing more is answered than what is under way, or than what was written already. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Has the request handled when its turn comes, in the context (trace) that it came in. */
  take(req: IncomingMessage, res: ServerResponse, handle: () => void): void {
    if (this.#closing) return;
    this.#latest = req;
    this.#taken += 1;
    this.heldBack();
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
    this.#hold();
  }

  /** Takes nothing more, and closes when what is under way is answered; at once where nothing is. */
  close(): void {
    this.#waiting = [];
    if (this.answer === null) {
      this.socket.destroySoon();
      return;
    }
    this.#closing = true;
    this.answer.shouldKeepAlive = false;
  }

  /** Closes so, and reads nothing more meanwhile. */
  closeUnread(): void {
    this.#surplus = true;
    if (this.answer !== null) this.#hold();
    this.close();
  }

  /** Writes an answer in place of any other, and closes. */
  refuse(answer: string): void {
    this.#surplus = true;
    this.#waiting = [];
    this.socket.write(answer);
    this.socket.destroySoon();
  }

  /**
   * Milliseconds in which we read nothing, not being ready for more, since the last call or since the last request came. No peer
   * is late for those.
   */
  heldBack(): number {
    this.#count();
    const told = this.#unreadMs;
    this.#unreadMs = 0;
    return told;
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

  #hold(): void {
    this.#held = true;
    this.socket.pause();
  }

  #count(): void {
    if (this.#unreadSince === null) return;
    const now = this.elapsed();
    this.#unreadMs += now - this.#unreadSince;
    this.#unreadSince = now;
  }

  #begin(res: ServerResponse, handle: () => void): void {
    this.answer = res;
    res.once('close', () => {
      this.answer = null;
      if (this.arriving === null) this.#latest = null;
      const { socket } = this;
      if (this.#closing && !socket.destroyed) socket.destroySoon();
      if (socket.destroyed || socket.writableEnded) this.#waiting = [];
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
