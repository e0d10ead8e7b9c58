import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { useDeployment } from '../support/deployment/deployment.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** Every page, by its path from the root. */
const PAGES = [
  'README.md',
  'README.es.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  'site/index.md',
  'site/es/index.md',
  ...pagesIn('docs'),
  ...pagesIn('docs/adr'),
  ...pagesIn('docs/es'),
  ...pagesIn('docs/events'),
  ...pagesIn('docs/incidents'),
  ...pagesIn('docs/runbooks'),
];
/** Listed but not run here: each starts a deployment or runs these tests, and other tests cover them. */
const SHOWN = [
  'mv /var/lib/ecf-gateway /var/lib/ecf-lost      # if it survived',
  'install -d -o ecf -g ecf -m 700 /var/lib/ecf-gateway',
  'chown -R ecf /mnt/backup',
  'cd /opt/ecf-gateway && runuser -u ecf -- node_modules/.bin/ecf restore /mnt/backup',
  'systemctl start ecf-gateway      # after the surviving documents',
  'compose() { docker compose -f deploy/compose/compose.yaml -f deploy/compose/compose.production.yaml "$@"; }',
  'compose down',
  'compose up -d --wait postgres',
  'compose run --rm bucket',
  'compose run --rm -e MASTER_KEY -v /mnt/backup:/data cli restore /data',
  'compose up -d',
  'ecf restore record --at 2026-11-27T03:00:00-04:00 --services emission,query',
  'npm start',
  "curl -s http://127.0.0.1:8080/fe_Submit -H 'x-api-key: …' -F 'data=<.data/my-invoice.json'",
  'npx ecf check invoice.json',
  'npm run distributed',
  'npm run generate',
  'npm test',
  'npm run lint',
  'npm run typecheck',
  'npm run build',
  'for service in gateway emission status-poller reception approvals query; do',
  '  (cd services/$service && DATABASE_URL=postgresql://user:password@host:5432/ecf_$(echo $service | tr - _) \\',
  '    node ../../packages/postgres/dist/migrate.main.js)',
  'done',
  'install -m 600 deploy/compose/.env.example deploy/compose/.env      # fill it in',
  'node_modules/.bin/ecf keys services >> deploy/compose/.env',
  'MASTER_KEY=... node_modules/.bin/ecf keys sealing >> deploy/compose/.env      # MASTER_KEY: openssl rand -base64 32; keep it elsewhere',
  'cp deploy/compose/settings.env.example deploy/compose/settings.env      # set TRUSTED_ISSUERS_FILE; or, for a trial, ANY_ISSUER=true',
  'deploy/compose/certificates.sh      # an authority of this deployment, and a certificate for each server',
  'docker compose -f deploy/compose/compose.yaml up --build',
  'docker compose -f deploy/compose/compose.yaml -f deploy/compose/compose.production.yaml up -d --build',
  'docker compose -f deploy/compose/compose.yaml down --volumes',
  'docker compose -f deploy/compose/compose.yaml -f deploy/compose/compose.production.yaml run --rm -v /mnt/backup:/data cli backup /data',
  'deploy/images/build.sh                              # all, with docker, podman or buildah; or: build.sh emission query',
  'PLATFORM=linux/arm64 PREFIX=registry.example.do/ecf deploy/images/build.sh',
  'deploy/images/run.sh standalone                     # the sandbox, in memory',
  'SERVICE_RUNNER=deploy/images/run.sh npm run distributed      # with S3_ENDPOINT and its keys: containers share no folder',
  'useradd --system --home-dir /var/lib/ecf-gateway --shell /usr/sbin/nologin ecf',
  'git clone <this repository> /opt/ecf-gateway && cd /opt/ecf-gateway && npm run build',
  "install -D -m 600 /dev/stdin /etc/ecf-gateway/settings.env      # the settings of a production start, one NAME='value' a line",
  'set -a; . /etc/ecf-gateway/settings.env; set +a; export DATA_DIR=/var/lib/ecf-gateway',
  'cp deploy/systemd/ecf-gateway.service /etc/systemd/system/',
  'systemctl daemon-reload && systemctl enable --now ecf-gateway',
  'systemctl stop ecf-gateway',
  'cd /opt/ecf-gateway && git fetch --tags && git checkout v1.1.0 && npm run build && systemctl start ecf-gateway',
  'ECF_CHAOS_INVOICES=2000 node scripts/jest.mjs test-e2e/scenarios/chaos',
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 npm run distributed',
];

/** Revoked certificates: pages add lines. It must list something, so it begins with a certificate that does not exist. */
const REVOKED = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-revoked-')), 'revoked');
fs.chmodSync(path.dirname(REVOKED), 0o755);
fs.writeFileSync(REVOKED, `${'0'.repeat(64)}\n`);

const deployment = useDeployment({ LOG_LEVEL: 'info', REVOKED_CERTIFICATES_FILE: REVOKED });
afterAll(() => fs.rmSync(path.dirname(REVOKED), { recursive: true, force: true }));

function pagesIn(folder: string): string[] {
  const names = fs.readdirSync(path.join(ROOT, folder));
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);
}

const isSpanish = (page: string) => page.startsWith('docs/es/');

/** Where the links of a page lead; patterns in code may look like links. */
function links(page: string): string[] {
  const text = fs.readFileSync(path.join(ROOT, page), 'utf8').replace(/`[^`\n]+`/g, '');
  return [...text.matchAll(/\]\(([^)]+)/g)].map(([, link]) => link as string);
}

/** The anchors of the headings of a page, as GitHub makes them. */
function anchors(page: string): string[] {
  const text = fs.readFileSync(path.join(ROOT, page), 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading as string);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The fenced blocks of a page, by their language. */
function blocks(page: string): { language: string; text: string; line: number }[] {
  const text = fs.readFileSync(path.join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: body = '', index }) => ({
    language,
    text: body,
    line: text.slice(0, index).split('\n').length + 1,
  }));
}

function run(script: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    child.once('close', (code) => resolve({ code, output }));
  });
}

describe('the commands of a page of the documentation', () => {
  // The Spanish pages have the blocks of the English ones.
  const running = PAGES.filter((page) => !isSpanish(page) && blocks(page).some(({ language }) => language === 'sh'));

  it('are on the pages for users, operators and developers', () => {
    const names = running.map((page) => path.basename(page, '.md'));
    expect(names).toEqual(
      expect.arrayContaining([
        ...['integrators', 'providers', 'operators', 'authority-simulator'],
        ...['approvals', 'cancellations', 'deliveries'],
      ]),
    );
  });

  it.each(running)('work without changes: %s', async (page) => {
    const work = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-docs-'));
    try {
      const parts = blocks(page).filter(({ language }) => language === 'sh');
      const script = parts.map(({ text, line }) => `echo "== line ${line}"\n${text}`).join('\n');
      // A loop that breaks at success continues silently without it; a function can return 1.
      expect(script).not.toMatch(/&& break/);
      const env = { DATA_DIR: deployment.dataDir, WORK: work, REVOKED_CERTIFICATES_FILE: REVOKED };
      const { code, output } = await run(script, env);
      const end = output.slice(-1_500);
      expect({ page, code, end }).toEqual({ page, code: 0, end });
    } finally {
      fs.rmSync(work, { recursive: true, force: true });
    }
  });

  it.each(PAGES)('are all run, except the ones that start or run the tests: %s', (page) => {
    const others = blocks(page).filter(({ language }) => language !== 'sh');
    // Blocks of these pages run in services/query/test/webhooks.test.ts, in migrating.test.ts and in test-e2e/packages. The SQL is that of
    // scenarios/restored.test.ts and of services/emission/test (restored, repeats).
    const elsewhere: Record<string, string[]> = {
      'docs/webhooks.md': ['ts', 'python'],
      'docs/migrating-from-dgii-ecf.md': ['js'],
      'docs/packages.md': ['ts'],
      'docs/backup.md': ['sql'],
      'docs/operators.md': ['sql'],
    };
    const known = ['console', 'text', 'json', ...(elsewhere[page] ?? [])];
    expect(others.filter(({ language }) => !known.includes(language))).toEqual([]);
    const shown = others.filter(({ language }) => language === 'console');
    const lines = shown.flatMap(({ text }) => text.trim().split('\n'));
    expect(lines.filter((line) => !SHOWN.includes(line))).toEqual([]);
  });

  it.each(PAGES)('name only scripts that exist, also in the text: %s', (page) => {
    const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const text = fs.readFileSync(path.join(ROOT, page), 'utf8');
    const run = [...text.matchAll(/`npm (?:run )?([a-z:-]+)/g)].map(([, script]) => script as string);
    const files = [...text.matchAll(/`node ([\w./-]+\.m?js)\b/g)].map(([, file]) => file as string);
    const unknown = run.filter((command) => command !== 'install' && !Object.hasOwn(scripts, command));
    expect(unknown).toEqual([]);
    expect(files.filter((file) => !fs.existsSync(path.join(ROOT, file)))).toEqual([]);
  });

  it.each(PAGES)('have links that lead to files and to their headings: %s', (page) => {
    const dead = links(page).filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? page : path.join(path.dirname(page), target);
      if (!fs.existsSync(path.join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchors(file).includes(anchor);
    });
    expect(dead).toEqual([]);
  });
});

describe('the README', () => {
  it('shows the fault as the gateway answers it', async () => {
    const shown = blocks('README.md').find(({ language }) => language === 'json');
    const invoice = fs.readFileSync(path.join(deployment.dataDir, 'my-mistake.json'), 'utf8');
    const { status, body } = await deployment.demo.submit(invoice);
    expect({ status, code: body.code, faults: body.faults }).toEqual({
      status: 400,
      code: 'invalid_document',
      faults: [JSON.parse(shown?.text ?? 'null')],
    });
  });
});

describe('the Spanish README', () => {
  it('has the commands, the printed lines, the fault and the links of the English one, in the same order', () => {
    // The first block is the diagram, whose words are translated.
    const same = (page: string) =>
      blocks(page)
        .slice(1)
        .map(({ language, text }) => ({ language, text }));
    expect(same('README.es.md')).toEqual(same('README.md'));
    const inEnglish = links('README.es.md').map((link) => link.replace('docs/es/', 'docs/'));
    expect(inEnglish.slice(1)).toEqual(links('README.md').slice(1));
  });
});

describe('a Spanish page', () => {
  const code = (page: string) => {
    const text = fs.readFileSync(path.join(ROOT, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
    return [...text.matchAll(/`[^`\n]+`/g)].map(([name]) => name).sort();
  };

  it.each(PAGES.filter(isSpanish))(
    'has the commands, the names in code and the links of the English page: %s',
    (page) => {
      const english = page.replace('docs/es/', 'docs/');
      expect(blocks(page).map(({ language, text }) => ({ language, text }))).toEqual(
        blocks(english).map(({ language, text }) => ({ language, text })),
      );
      expect(code(page)).toEqual(code(english));
      const files = (one: string) => links(one).map((link) => path.basename(link.split('#')[0] ?? ''));
      expect(files(page)).toEqual(files(english));
    },
  );
});
