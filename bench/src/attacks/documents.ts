// Documents and key files that take long to check.
import { type Attack, form, repeatedly, type Stage, send, submitHead } from './attack.js';

const BATCHES = 4;
const CALLERS = 4;

/** 19 lists of 100,000 empty lists each, under 50 lists: nothing of it counts as content. 5.7 MB. */
const absentList = ({ scale }: Stage): string => {
  const list = `[${Array.from({ length: Math.ceil(100_000 * scale) }, () => '[]').join()}]`;
  return `${'['.repeat(50)}${Array.from({ length: 19 }, () => list).join()}${']'.repeat(50)}`;
};
/** 9.6 MB. */
const entities = ({ scale }: Stage): string => JSON.stringify('&lt;'.repeat(2_400_000 * scale));

export const DOCUMENTS: readonly Attack[] = [
  { letter: 'b', name: '/fe_Submit, an absent list under 50 lists', neighbour: 'submits', run: submitted(absentList) },
  { letter: 'b', name: '/fe_Submit, 2.4 million &lt;', neighbour: 'submits', run: submitted(entities) },
  { letter: 'b', name: '/batches, the absent list as a line', neighbour: 'submits', run: inBatches(absentList) },
  { letter: 'b', name: '/batches, the &lt; as a line', neighbour: 'submits', run: inBatches(entities) },
  { letter: 'c', name: '/fe_Submit, a .p12 with 600,000 rounds', neighbour: 'submits', run: withKeyFile(600_000) },
  {
    letter: 'c',
    name: '/fe_Submit, a .p12 with 10 million rounds',
    neighbour: 'submits',
    run: withKeyFile(10_000_000),
  },
];

type Value = (stage: Stage) => string;

function submitted(value: Value) {
  return async (stage: Stage): Promise<void> => {
    const hostile = value(stage);
    await repeatedly(stage, CALLERS, () =>
      send(stage, submitHead(stage), form({ data: withName(stage.nextDocument(), hostile) })),
    );
  };
}

function inBatches(value: Value) {
  return async (stage: Stage): Promise<void> => {
    const head = `POST /batches HTTP/1.1\r\nx-api-key: ${stage.demo.api_key}\r\nContent-Type: application/x-ndjson`;
    const hostile = value(stage);
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const line = withName(stage.nextDocument(), hostile);
      stage.count(await send(stage, head, Buffer.from(`${line}\n`)));
    }
  };
}

function withKeyFile(rounds: number) {
  return async (stage: Stage): Promise<void> => {
    const certificate = keyFile(Math.ceil(rounds * stage.scale));
    await repeatedly(stage, CALLERS, () =>
      send(stage, submitHead(stage), form({ data: stage.nextDocument(), certificate, password: 'bench' })),
    );
  };
}

/** The document with a hostile value as the name of its buyer. */
function withName(document: string, value: string): string {
  return document.replace(/("RazonSocialComprador":)"[^"]*"/, (_, name) => `${name}${value}`);
}

/** A PKCS#12 file (RFC 7292) without keys, whose integrity check takes so many rounds, and fails. */
function keyFile(rounds: number): Buffer {
  const integer = (value: number) => {
    const bytes = Buffer.alloc(5);
    bytes.writeUInt32BE(value, 1);
    return der(0x02, bytes.subarray(bytes.findIndex((byte, at) => byte > 0 || (bytes[at + 1] ?? 0x80) > 0x7f)));
  };
  const sequence = (...members: Buffer[]) => der(0x30, ...members);
  const data = der(0x06, Buffer.from('2a864886f70d010701', 'hex'));
  const sha1 = sequence(der(0x06, Buffer.from('2b0e03021a', 'hex')), der(0x05));
  const content = sequence(data, der(0xa0, der(0x04, sequence())));
  const mac = sequence(sequence(sha1, der(0x04, Buffer.alloc(20))), der(0x04, Buffer.alloc(8)), integer(rounds));
  return sequence(integer(3), content, mac);
}

/** A value of fewer than 128 bytes. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
}
