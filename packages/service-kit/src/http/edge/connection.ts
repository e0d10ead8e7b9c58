import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lingerAndClose } from './lingering-close.js';

/** Requests that wait on a connection before no more is read of it. */
const READ_AHEAD = 4;
/** What one read may bring beyond that; a connection with more is closed. */
const MOST_WAITING = 64;

/**
 * Why requests that came whole got no answer: more of them waited than may (`too_many`), they stood behind an answer that closes
 * the connection (`closing`), or the connection was lost (`lost`).
 */
export type DropReason = 'too_many' | 'closing' | 'lost';

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
  #dropped = 0;
  #overfull = false;
  /** Since when nothing is read; null while it is. */
  #unreadSince: number | null = null;
  /** In all, and when the head of the last request came and that of the one before. */
  #unreadMs = 0;
  #unreadBefore: readonly [last: number, previous: number] = [0, 0];

  constructor(
    readonly socket: Socket,
    /** Of the peer. */
    readonly address: string,
    /** Milliseconds of a clock that never goes back. */
    private readonly elapsed: () => number = () => performance.now(),
    /** Told when the connection is gone of requests on it that got no answer, as far as they were read. */
    onDropped: (reason: DropReason, requests: number) => void = () => undefined,
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
    socket.on('close', () => {
      this.#dropWaiting();
      if (this.#dropped > 0) onDropped(this.#overfull ? 'too_many' : this.#ended ? 'closing' : 'lost', this.#dropped);
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
    if (this.#closing) {
      this.#dropped += 1;
      return;
    }
    this.#latest = req;
    this.#taken += 1;
    this.#count();
    this.#unreadBefore = [this.#unreadMs, this.#unreadBefore[0]];
    if (this.answer === null) {
      this.#begin(res, handle);
      return;
    }
    if (this.#waiting.length >= MOST_WAITING) {
      this.#overfull = true;
      this.#closing = true;
      this.#dropped += 1;
      this.socket.destroy();
      return;
    }
    this.#waiting.push({ res, handle: AsyncResource.bind(handle) });
    if (this.#waiting.length < READ_AHEAD) return;
    this.#hold();
  }

  /** Takes nothing more, and closes when what is under way is answered; at once where nothing is. */
  close(): void {
    this.#dropWaiting();
    if (this.answer === null) {
      this.socket.destroySoon();
      return;
    }
    this.#closing = true;
    this.answer.shouldKeepAlive = false;
  }

  /** Closes so, and reads nothing more meanwhile: what came last is no request, or will be none in time. */
  closeUnread(): void {
    this.#surplus = true;
    if (this.arriving === null) this.#dropped += 1;
    if (this.answer !== null) this.#hold();
    this.close();
  }

  /** Writes an answer in place of any other, and closes. */
  refuse(answer: string): void {
    this.#surplus = true;
    this.#dropWaiting();
    this.socket.write(answer);
    this.socket.destroySoon();
  }

  /**
   * Milliseconds in which we read nothing, not being ready for more, since the request began that did not come whole yet. No peer
   * is late for those.
   */
  get heldBack(): number {
    this.#count();
    const [last, previous] = this.#unreadBefore;
    return this.#unreadMs - (this.arriving === null ? last : previous);
  }

  /** Milliseconds in which we read, on a clock that stands still while we do not. */
  get readingTime(): number {
    this.#count();
    return this.elapsed() - this.#unreadMs;
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

  #dropWaiting(): void {
    this.#dropped += this.#waiting.length;
    this.#waiting = [];
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
      if (socket.destroyed || socket.writableEnded) this.#dropWaiting();
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
