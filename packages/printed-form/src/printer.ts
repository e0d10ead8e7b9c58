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
 * `not_printable`: the document is not a signed e-CF. `renderer_failed`: the renderer stopped, took too long or needed too much
 * memory; a later attempt may succeed. `renderer_busy`: too many documents wait.
 */
export class PrintError extends Error {
  constructor(
    readonly code: 'not_printable' | 'renderer_failed' | 'renderer_busy',
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
  resolve(pdf: Uint8Array): void;
  reject(error: PrintError): void;
}

/** The compiled renderer, also where this file is read from its source. */
const RENDERER = fileURLToPath(
  new URL('./renderer.process.js', import.meta.url.replace('/src/printer.ts', '/dist/printer.js')),
);

/** Documents of more lines wait until no shorter one does: they take seconds. */
const SHORT_LINES = 200;

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

  function start(): ChildProcess {
    const child = fork(RENDERER, [String(memoryLimit)], { serialization: 'advanced', execArgv: [], stdio: 'ignore' });
    child.on('message', (answer: { pdf?: Uint8Array; error?: string } | 'ready') => {
      if (answer === 'ready' || child !== renderer) return;
      const job = ended();
      if (answer.pdf) job?.resolve(answer.pdf);
      else job?.reject(new PrintError('not_printable', `The document could not be laid out: ${answer.error}`));
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
    const short = waiting.findIndex(({ request }) => request.form.lines.length <= SHORT_LINES);
    current = waiting.splice(Math.max(short, 0), 1)[0] ?? null;
    renderer ??= start();
    const child = renderer;
    timer = setTimeout(() => child.kill('SIGKILL'), timeLimitMs);
    child.send(current?.request as RenderRequest);
  }

  return {
    async print({ xml, env, format, contingency = false, logo = null }) {
      const form = formOf(xml, env, contingency);
      if (waiting.length >= mostWaiting)
        throw new PrintError('renderer_busy', `${mostWaiting} documents wait to be printed.`);
      return new Promise<Uint8Array>((resolve, reject) => {
        waiting.push({ request: { form, xml, format, logo }, resolve, reject });
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
