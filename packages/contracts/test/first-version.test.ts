import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { TOPICS } from '../src/topics.js';

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), 'first-version');
const schemas = new Map(Object.values(TOPICS).flatMap((topic) => Object.entries(topic.events)));

/** The data of one event of each type in the first version of its schema. These files never change. */
describe('an event of the first version', () => {
  it.each(readdirSync(FOLDER).map((name) => name.replace('.json', '')))('%s is read by the present schema', (type) => {
    const data = JSON.parse(readFileSync(path.join(FOLDER, `${type}.json`), 'utf8'));
    const result = schemas.get(type)?.safeParse(data);
    expect(result?.error?.issues ?? []).toEqual([]);
    expect(result?.data).toMatchObject(data);
  });

  it('is kept for each type', () => {
    expect(
      readdirSync(FOLDER)
        .map((name) => name.replace('.json', ''))
        .sort(),
    ).toEqual([...schemas.keys()].sort());
  });
});
