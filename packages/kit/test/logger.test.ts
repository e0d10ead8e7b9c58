import { describe, expect, it } from '@jest/globals';
import { redact, redactText } from '../src/redaction.js';
import { createLogger } from '../src/telemetry/logger.js';

function captured(): {
  lines: () => Record<string, unknown>[];
  text: () => string;
  logger: ReturnType<typeof createLogger>;
} {
  let text = '';
  const destination = {
    write: (line: string) => {
      text += line;
    },
  };
  const logger = createLogger({ service: 'test', level: 'trace', destination });
  return {
    logger,
    text: () => text,
    lines: () =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
}

const KEY = `ecf_live_${'A'.repeat(43)}`;
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl';
const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----';
const P12 = `MIIK${'QmFzZTY0'.repeat(40)}==`;
const SECRETS = [KEY, JWT, 'MIIEvQIBADANBgkq', P12, 'hunter2', 'tomato-soup'];

describe('the log', () => {
  it('is one JSON object per line with level, time, service and message', () => {
    const { logger, lines } = captured();
    logger.info({ operation: 'submitJson', status: 200 }, 'answered');
    logger.child({ account_id: 'a1' }).warn('careful');
    expect(lines()).toMatchObject([
      {
        level: 'info',
        service: 'test',
        operation: 'submitJson',
        status: 200,
        msg: 'answered',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      { level: 'warn', account_id: 'a1', msg: 'careful' },
    ]);
  });

  it('never shows a key, a token, a password or a certificate at any place', () => {
    const { logger, text } = captured();
    logger.info(
      { headers: { 'x-api-key': KEY, authorization: `Bearer ${JWT}`, 'x-token': JWT, env: 'eCF' } },
      'headers',
    );
    logger.info({ upload: { password: 'hunter2', certificate: Buffer.from('hunter2'), file: new Uint8Array(3) } });
    logger.info({ deep: { deeper: [{ MASTER_KEY: 'tomato-soup', sealed: P12 }] } });
    logger.info({ env: { SEALING_KEYS: 'hunter2', SERVICE_PRIVATE_KEY: 'hunter2', KAFKA_SASL_PASSWORD: 'hunter2' } });
    logger.warn(`the key ${KEY} and Bearer ${JWT}`);
    logger.error(
      {
        err: new Error(`cannot read ${PEM} of ${P12}`, {
          cause: new Error('postgresql://ecf:hunter2@127.0.0.1/db is unreachable'),
        }),
      },
      'failed',
    );
    logger.error(Object.assign(new Error('with fields'), { password: 'hunter2', body: { token: 'tomato-soup' } }));
    logger.child({ token: 'tomato-soup' }).info('child');
    for (const secret of SECRETS) expect(text()).not.toContain(secret);
    expect(text()).toContain('"env":"eCF"');
    expect(text()).toContain('[3 bytes]');
    expect(text()).toContain('postgresql://ecf:[redacted]@127.0.0.1/db');
  });

  it('logs an error with its type, code, stack and causes', () => {
    const { logger, lines } = captured();
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    logger.error({ err: new TypeError('broken', { cause }) }, 'failed');
    expect(lines()[0]).toMatchObject({
      err: {
        type: 'TypeError',
        message: 'broken',
        stack: expect.stringContaining('logger.test'),
        cause: { code: 'ECONNREFUSED' },
      },
    });
  });

  it('logs no other property of an error', () => {
    const { logger, lines, text } = captured();
    const client = { connectionParameters: { host: 'db', password: 'hunter2' }, secretKey: 17, processID: 99 };
    const broken = Object.assign(new Error('terminated'), { code: '57P01', client, detail: 'row (1)', secretKey: 17 });
    logger.warn({ err: broken }, 'lost');
    logger.warn(Object.assign(broken, { cause: { client } }));
    logger.warn({ err: new AggregateError([Object.assign(new Error('refused'), { client })], 'all refused') });
    for (const word of ['connectionParameters', 'secretKey', 'processID', 'detail', 'hunter2'])
      expect(text()).not.toContain(word);
    expect(lines()).toMatchObject([
      { err: { type: 'Error', code: '57P01', message: 'terminated', stack: expect.any(String) } },
      { err: { code: '57P01', cause: '[object]' } },
      { err: { type: 'AggregateError', errors: [{ message: 'refused' }] } },
    ]);
  });

  it('accepts deep, circular, long and unusual values', () => {
    const circular: Record<string, unknown> = { a: 1 };
    circular.self = circular;
    expect(JSON.stringify(redact({ circular, big: 10n, none: undefined, list: Array(1_000).fill('x') }))).toContain(
      '[deeper]',
    );
    expect(redactText('x'.repeat(20_000)).length).toBeLessThan(9_000);
  });

  it('shows no part of a secret that the end of a long text cuts', () => {
    for (const secret of [KEY, `Bearer ${JWT}`, JWT, PEM, P12, 'postgresql://ecf:hunter2-and-more@127.0.0.1/db']) {
      for (let inside = 1; inside <= Math.min(secret.length, 300); inside++) {
        const shown = redactText(`${'x'.repeat(8_191 - inside)} ${secret} ${'y'.repeat(9_000)}`);
        expect(shown.length).toBeLessThan(8_300);
        for (const word of secret.split(/[ :\n]/).filter((one) => one.length > 10))
          expect(shown).not.toContain(word.slice(0, 10));
      }
    }
  });

  it.each([
    'eyJ',
    '-eyJaaaaaaaa',
    'a.a-',
    'ecf_test_',
    '-----BEGIN ',
    '-----BEGIN A-----',
    'Bearer ',
    `MI${'A'.repeat(119)} `,
    '://a:',
    'a://',
    ' ',
  ])(
    'reads a mebibyte of %j in linear time',
    (piece) => {
      const text = `basic ${piece.repeat(Math.ceil((1024 * 1024) / piece.length))}`;
      expect(redactText(text).length).toBeLessThan(8_300);
      expect(JSON.stringify(redact(Array.from({ length: 100 }, () => text))).length).toBeLessThan(1_700_000);
    },
    60_000,
  );
});
