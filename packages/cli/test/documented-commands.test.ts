/** Every `ecf` command that a page names exists, with the verb and the options that the page names. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { COMMANDS } from '../src/commands.js';
import { parseOptions } from '../src/options.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGES = [
  ...[
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'examples/README.md',
    'packages/cli/README.md',
  ],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const FENCED = /^```\w*\n([\s\S]*?)^```$/gm;
const PROGRAM = String.raw`(?:npx |node_modules/\.bin/)?ecf\b(?!-)`;

/** The words of a command line, split like a shell does, without expansions. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

/** The commands in the text of a page, each with the options that follow it alone in the same paragraph. */
function namedInText(page: string): string[] {
  const paragraphs = page.replace(FENCED, '').split(/\n\s*\n|\n(?=\s*(?:[-|]|\d+\.) )/);
  return paragraphs.flatMap((paragraph) => {
    const commands: string[] = [];
    for (const [, code = ''] of paragraph.matchAll(/`([^`]+)`/g)) {
      const text = code.replace(/\s+/g, ' ').trim();
      if (new RegExp(`^${PROGRAM}(?: |$)`).test(text)) commands.push(text);
      else if (text.startsWith('--') && commands.length > 0)
        commands.push(`ecf ${words(commands.at(-1) ?? '')[1]} ${text}`);
    }
    return commands;
  });
}

/** The commands in its shell blocks, without redirections and pipes. After an option, `ecf` is a user or a namespace. */
function namedInBlocks(page: string): string[] {
  const lines = [...page.matchAll(FENCED)].flatMap(([, body = '']) => body.replace(/\\\n/g, ' ').split('\n'));
  return lines.flatMap((line) =>
    [...line.matchAll(new RegExp(`(?<![\\w./]|-\\w[\\w-]* )${PROGRAM} [^|;&>)]+`, 'g'))].map(([text]) => text),
  );
}

/** The alternatives of `list|retry`, one by one. */
function alternatives(command: string): string[] {
  const [choice] = / [a-z]+(?:\|[a-z]+)+(?= |$)/.exec(command) ?? [];
  return choice === undefined
    ? [command]
    : choice
        .trim()
        .split('|')
        .map((each) => command.replace(choice, ` ${each}`));
}

/** The words after the name in a command's help: `list` of `ecf deliveries list [options]`. */
function verbsOf(name: string, help: string): string[] {
  const usage = help.split('\n\n')[0] ?? '';
  return usage.split('\n').flatMap((line) => new RegExp(`^ecf ${name} ([a-z]+)\\b`).exec(line)?.[1] ?? []);
}

/** The reason why the command line is wrong; null if it is right. An option that is named alone may lack its value. */
async function fault(command: string): Promise<string | null> {
  const [, name, ...args] = words(command.replace(/^npx /, ''));
  if (name === undefined || name === 'help' || name === '--version') return null;
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) return `${command}: no such command`;
  const { options, help } = await entry.load();
  const [only = ''] = args;
  if (args.length === 1 && options[only.replace(/^--/, '')] === 'value') return null;
  try {
    const [verb] = parseOptions(options, args).files;
    const isVerb = verb !== undefined && /^[a-z]+$/.test(verb);
    return isVerb && !verbsOf(name, help).includes(verb) ? `${command}: no such verb` : null;
  } catch (error) {
    return `${command}: ${error instanceof Error ? error.message : error}`;
  }
}

/** Sequentially, because each loads its command. */
async function faultsOf(commands: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const command of commands) {
    const found = await fault(command);
    if (found !== null) faults.push(found);
  }
  return faults;
}

function commandsOf(page: string): string[] {
  return [...namedInText(page), ...namedInBlocks(page)].flatMap(alternatives);
}

const pages = PAGES.map((page) => ({ page, commands: commandsOf(readFileSync(join(ROOT, page), 'utf8')) }));

describe('the commands that pages name', () => {
  it.each(pages.filter(({ commands }) => commands.length > 0))(
    'are those of the command line: $page',
    async ({ commands }) => {
      expect(await faultsOf(commands)).toEqual([]);
    },
  );

  it('are, except those on files alone, all on the page for operators', () => {
    const { commands = [] } = pages.find(({ page }) => page === join('docs', 'operators.md')) ?? {};
    const named = new Set(commands.map((command) => words(command)[1]));
    const others = Object.entries(COMMANDS).filter(([, { section }]) => section !== 'documents');
    expect(others.map(([name]) => name).filter((name) => !named.has(name))).toEqual([]);
  });

  it.each([
    ['a command that is none', 'Do `ecf deliver list`.'],
    ['a verb that is none', 'Do `ecf deliveries\nresend`.'],
    ['one of several verbs', 'Do `ecf deliveries list|resend`.'],
    ['an option that is none', '- `ecf approvals settle ID --remark TEXT`'],
    ['an option that lacks its value', '| a | `npx ecf approvals settle ID --note` |'],
    ['an option said apart', 'Do `ecf approvals settle ID` with `--granted`.'],
    ['a line of a shell block', '```sh\nX=1 node_modules/.bin/ecf check --hushed "$WORK/a b.json" || true\n```'],
  ])('would be found out: %s', async (_, page) => {
    const faults = await faultsOf(commandsOf(page));
    expect(faults).not.toEqual([]);
  });
});
