import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Environment } from '@ecf/domain';
import { parseXml, readXml } from '@ecf/ecf-xml';
import type { Logo } from '@ecf/logo';
import { securityCode, signatureValueOf } from '@ecf/xml-signing';
import { type PrintedForm, printedForm } from './printed-form.js';

export type PrintFormat = 'letter' | 'ticket';

export interface PrintRequest {
  /** The signed e-CF; it is attached to the PDF as it is. */
  readonly xml: Uint8Array;
  /** The environment of the address in the QR code. */
  readonly env: Environment;
  readonly format: PrintFormat;
  /** True if the document was issued in contingency; then it shows the official legend. */
  readonly contingency?: boolean;
  readonly logo?: PrintedLogo | null;
  /** Who asks, for example an account. A quarter of the places of waiting documents is the most that one owner takes. */
  readonly owner?: string | undefined;
  /** Aborted when the caller left: a document that still waits is then not printed. */
  readonly signal?: AbortSignal | undefined;
}

/** A logo that `readLogo` accepted. */
export type PrintedLogo = Pick<Logo, 'type' | 'bytes'>;

/** What the renderer process gets. */
export interface RenderRequest {
  readonly form: PrintedForm;
  readonly xml: Uint8Array;
  readonly format: PrintFormat;
  readonly logo: PrintedLogo | null;
}

/**
 * `not_printable`: the document is not a signed e-CF. `layout_failed`: it is one, but the page could not be made, for example
 * because of the logo. `renderer_failed`: the renderer stopped, took too long or needed too much memory; a later attempt may
 * succeed. `renderer_busy`: too many documents wait. `caller_left`: the signal of the request was aborted.
 */
export class PrintError extends Error {
  constructor(
    readonly code: 'not_printable' | 'layout_failed' | 'renderer_failed' | 'renderer_busy' | 'caller_left',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'PrintError';
  }
}

export interface Printer {
  /** The printed form as PDF/A-3 with the XML attached: the same bytes for the same request. Throws PrintError. */
  print(request: PrintRequest): Promise<Uint8Array>;
  /** Ends the renderer. Documents that wait fail with `renderer_failed`. */
  close(): void;
}

export interface PrinterOptions {
  /** Resident bytes at which the renderer is killed; default 2 GiB. A letter of 10,000 lines needs 1.4 GB. */
  readonly memoryLimit?: number;
  /** Milliseconds for one document; default 60,000. */
  readonly timeLimitMs?: number;
  /** Documents that may wait for the renderer; default 64. */
  readonly mostWaiting?: number;
}

interface Job {
  readonly request: RenderRequest;
  readonly owner: string | undefined;
  resolve(pdf: Uint8Array): void;
  reject(error: PrintError): void;
}

/** The compiled renderer, also where this file is read from its source. */
const RENDERER = fileURLToPath(
  new URL('./renderer.process.js', import.meta.url.replace('/src/printer.ts', '/dist/printer.js')),
);

/** Shorter documents are printed before those of more lines, which take seconds. */
const SHORT_LINES = 200;
/** The share of documents, one in four, for which the one that waits longest is taken, whatever its length. */
const OLDEST_EVERY = 4;

/**
 * Prints documents in one child process, which is started by the first document and again after it stopped. It renders one
 * document at a time.
 */
export function createPrinter(options: PrinterOptions = {}): Printer {
  const { memoryLimit = 2 * 1024 ** 3, timeLimitMs = 60_000, mostWaiting = 64 } = options;
  const waiting: Job[] = [];
  let renderer: ChildProcess | null = null;
  let current: Job | null = null;
  let timer: NodeJS.Timeout | undefined;
  let begun = 0;

  function start(): ChildProcess {
    const child = fork(RENDERER, [String(memoryLimit)], { serialization: 'advanced', execArgv: [], stdio: 'ignore' });
    child.on('message', (answer: { pdf?: Uint8Array; error?: string } | 'ready') => {
      if (answer === 'ready' || child !== renderer) return;
      const job = ended();
      if (answer.pdf) job?.resolve(answer.pdf);
      else job?.reject(layoutFailed(answer.error, job.request.logo));
      next();
    });
    child.on('error', () => stopped(child));
    child.on('exit', () => stopped(child));
    return child;
  }

  function ended(): Job | null {
    clearTimeout(timer);
    const job = current;
    current = null;
    return job;
  }

  function stopped(child: ChildProcess): void {
    if (child !== renderer) return;
    renderer = null;
    ended()?.reject(
      new PrintError('renderer_failed', 'The renderer stopped: the document took too long or needed too much memory.'),
    );
    next();
  }

  function next(): void {
    if (current !== null || waiting.length === 0) return;
    begun += 1;
    const isShort = ({ request }: Job) => request.form.lines.length <= SHORT_LINES;
    const chosen = begun % OLDEST_EVERY === 0 ? 0 : Math.max(waiting.findIndex(isShort), 0);
    current = waiting.splice(chosen, 1)[0] ?? null;
    renderer ??= start();
    const child = renderer;
    timer = setTimeout(() => child.kill('SIGKILL'), timeLimitMs);
    child.send(current?.request as RenderRequest);
  }

  function requirePlace(owner: string | undefined): void {
    if (waiting.length >= mostWaiting)
      throw new PrintError('renderer_busy', `${mostWaiting} documents wait to be printed.`);
    const most = Math.ceil(mostWaiting / 4);
    if (owner !== undefined && waiting.filter((job) => job.owner === owner).length >= most)
      throw new PrintError('renderer_busy', `${most} documents of the same caller wait to be printed.`);
  }

  return {
    async print({ xml, env, format, contingency = false, logo = null, owner, signal }) {
      if (signal?.aborted) throw callerLeft();
      // Before the document is read, so that refusing one costs nothing.
      requirePlace(owner);
      const form = formOf(xml, env, contingency);
      return new Promise<Uint8Array>((resolve, reject) => {
        const job: Job = { request: { form, xml, format, logo }, owner, resolve, reject };
        waiting.push(job);
        signal?.addEventListener(
          'abort',
          () => {
            const index = waiting.indexOf(job);
            if (index >= 0) waiting.splice(index, 1);
            reject(callerLeft());
          },
          { once: true },
        );
        next();
      });
    },
    close() {
      const child = renderer;
      renderer = null;
      child?.kill('SIGKILL');
      for (const job of [ended(), ...waiting.splice(0)])
        job?.reject(new PrintError('renderer_failed', 'The printer was closed.'));
    },
  };
}

function layoutFailed(reason: string | undefined, logo: PrintedLogo | null): PrintError {
  const remedy = logo === null ? '' : ' If it can be printed without its logo, replace the logo.';
  return new PrintError('layout_failed', `The document could not be laid out: ${reason}.${remedy}`);
}

function callerLeft(): PrintError {
  return new PrintError('caller_left', 'The caller left before the document was printed.');
}

function formOf(xml: Uint8Array, env: Environment, contingency: boolean): PrintedForm {
  const { form, lines } = read(xml, env, contingency);
  // A tree has no more lines than the schema of its type allows; a form without the others would be false.
  if (form.lines.length < lines) {
    const most = form.lines.length;
    throw new PrintError(
      'not_printable',
      `The document has ${lines} lines, but at most ${most} are allowed for its type.`,
    );
  }
  return form;
}

function read(xml: Uint8Array, env: Environment, contingency: boolean): { form: PrintedForm; lines: number } {
  try {
    const parsed = parseXml(xml);
    const value = signatureValueOf(parsed);
    if (value === null) throw new Error('The Signature has no SignatureValue, so there is no security code.');
    const form = printedForm(readXml(parsed), { env, securityCode: securityCode(value), contingency });
    return { form, lines: parsed.text.split('<Item>').length - 1 };
  } catch (error) {
    const message = `The document is not a signed e-CF: ${(error as Error).message}`;
    throw new PrintError('not_printable', message, { cause: error });
  }
}
