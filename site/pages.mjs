// The pages of the site, by who reads them: source file, label in English, label in Spanish. A page whose file does not exist is left
// out. A page with a translation in docs/es leads there in Spanish.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const GROUPS = [
  {
    text: ['Start', 'Inicio'],
    items: [
      ['README.md', 'Overview', 'Presentación'],
      ['docs/glossary.md', 'Glossary', 'Glosario'],
    ],
  },
  {
    text: ['ERP developers', 'Desarrolladores de ERP'],
    items: [
      ['docs/integrators.md', 'From the first call to production', 'De la primera llamada a producción'],
      ['docs/numbers.md', 'Numbers', 'Secuencias'],
      ['docs/batches.md', 'Batches', 'Lotes'],
      ['docs/contingency.md', 'Contingency', 'Contingencia'],
      ['docs/cancellations.md', 'Cancellations', 'Anulaciones'],
      ['docs/queries.md', 'Queries', 'Consultas'],
      ['docs/events.md', 'Events', 'Eventos'],
      ['docs/webhooks.md', 'Webhooks', 'Webhooks'],
      ['docs/printed-form.md', 'Printed form', 'Representación impresa'],
      ['examples/README.md', 'Examples', 'Ejemplos'],
      ['docs/rules.md', 'Elements and rules', 'Elementos y reglas'],
    ],
  },
  {
    text: ['Packages', 'Paquetes'],
    items: [
      ['docs/packages.md', 'All packages', 'Todos los paquetes'],
      ['packages/client/README.md', 'Client', 'Cliente'],
      ['packages/engine/README.md', 'Engine', 'Motor'],
      ['packages/cli/README.md', 'Command line', 'Línea de comandos'],
      ['packages/authority-simulator/README.md', 'Simulator of the authority', 'Simulador de la DGII'],
      ['packages/printed-form/README.md', 'Renderer of the printed form', 'Generador de la representación impresa'],
      ['docs/migrating-from-dgii-ecf.md', 'Coming from dgii-ecf', 'Desde dgii-ecf'],
    ],
  },
  {
    text: ['Buyers and providers', 'Compradores y suplidores'],
    items: [
      ['docs/providers.md', 'For a provider', 'Para un suplidor'],
      ['docs/reception.md', 'Reception', 'Recepción'],
      ['docs/approvals.md', 'Commercial approvals', 'Aprobaciones comerciales'],
      ['docs/deliveries.md', 'Deliveries to buyers', 'Entregas a compradores'],
    ],
  },
  {
    text: ['Office', 'Oficina'],
    items: [
      ['docs/console.md', 'Console', 'Consola'],
      ['docs/going-live.md', 'Going live', 'Salida a producción'],
      ['docs/certification.md', 'Certification', 'Certificación'],
    ],
  },
  {
    text: ['Operators', 'Operadores'],
    items: [
      ['docs/operators.md', 'Operating the gateway', 'Operación'],
      ['docs/backup.md', 'Backup and restore', 'Respaldo y restauración'],
      ['docs/configuration.md', 'Settings', 'Parámetros'],
      ['docs/distributed.md', 'Six services', 'Seis servicios'],
      ['docs/faults.md', 'Faults', 'Fallas'],
      ['docs/upgrading.md', 'Upgrading', 'Cambio de versión'],
      ['docs/compatibility.md', 'Compatibility', 'Compatibilidad'],
      ['docs/kubernetes.md', 'Kubernetes', 'Kubernetes'],
      ['docs/sizing.md', 'Size', 'Dimensionamiento'],
      ['docs/reverse-proxy.md', 'Reverse proxy', 'Proxy inverso'],
      ['docs/keys-and-audit.md', 'Keys and audit log', 'Claves y auditoría'],
      ['docs/benchmarks.md', 'Benchmarks', 'Mediciones'],
    ],
  },
  {
    text: ['Runbooks', 'Alarmas'],
    collapsed: true,
    items: [
      ['docs/runbooks/README.md', 'All alarms', 'Todas las alarmas'],
      ['docs/runbooks/processes.md', 'Processes', 'Procesos'],
      ['docs/runbooks/submissions.md', 'Submissions', 'Envíos'],
      ['docs/runbooks/authority.md', 'The authority', 'La DGII'],
      ['docs/runbooks/events.md', 'Events', 'Eventos'],
      ['docs/runbooks/storage.md', 'Storage', 'Almacenamiento'],
      ['docs/runbooks/reception.md', 'Reception', 'Recepción'],
      ['docs/runbooks/approvals-and-deliveries.md', 'Approvals and deliveries', 'Aprobaciones y entregas'],
      ['docs/runbooks/objectives.md', 'Objectives', 'Objetivos'],
      ['docs/incidents/leaked-api-key.md', 'An API key leaked', 'Una clave de API filtrada'],
      ['docs/incidents/leaked-master-key.md', 'The master key leaked', 'La clave maestra filtrada'],
      ['docs/incidents/stolen-certificate.md', 'A certificate was stolen', 'Un certificado robado'],
    ],
  },
  {
    text: ['Contributors', 'Colaboradores'],
    collapsed: true,
    items: [
      ['ARCHITECTURE.md', 'Architecture', 'Arquitectura'],
      ['CONTRIBUTING.md', 'Contributing', 'Cómo colaborar'],
      ['docs/emission-cycle.md', 'One invoice, step by step', 'Una factura, paso a paso'],
      ['docs/operations.md', 'Operations and tests', 'Operaciones y pruebas'],
      ['docs/events/README.md', 'Topics', 'Temas de eventos'],
      ['docs/authority-client.md', 'Authority client', 'Cliente de la DGII'],
      ['docs/authority-simulator.md', 'Authority simulator, inside', 'Simulador de la DGII, por dentro'],
      ['docs/authority-divergences.md', 'Differences from the schemas', 'Diferencias con los esquemas'],
      ['docs/hostile-inputs.md', 'Hostile inputs', 'Entradas hostiles'],
      ['SECURITY.md', 'Security', 'Seguridad'],
      ['CHANGELOG.md', 'Changes', 'Cambios'],
    ],
  },
];

const DECISIONS = 'docs/adr';

/** Where files outside `docs` have their pages, and the topics and packages, whose folders would hide the pages of the same names. */
const PLACES = {
  'site/index.md': 'index.md',
  'site/es/index.md': 'es/index.md',
  'README.md': 'overview.md',
  'README.es.md': 'es/overview.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
  'examples/README.md': 'examples.md',
  'docs/events/README.md': 'topics.md',
  'packages/client/README.md': 'client.md',
  'packages/engine/README.md': 'engine.md',
  'packages/cli/README.md': 'command-line.md',
  'packages/authority-simulator/README.md': 'simulator-package.md',
  'packages/printed-form/README.md': 'renderer.md',
};

/** The page of a source file, relative to the site: `docs/adr/README.md` is `adr/index.md`. */
export function placeOf(source) {
  return PLACES[source] ?? source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The address of a source file's page: `docs/adr/README.md` is `/adr/`. */
export function addressOf(source) {
  return `/${placeOf(source)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '')}`;
}

/** The Spanish file of a source file, or null if it is not translated. */
export function translationOf(source) {
  const file = source === 'README.md' ? 'README.es.md' : source.replace(/^docs\//, 'docs/es/');
  return file !== source && exists(file) ? file : null;
}

/** The groups of the navigation, with the files that exist: `[{text: [en, es], collapsed, items: [[source, en, es]]}]`. */
export function groups() {
  const decisions = fs.readdirSync(path.join(ROOT, DECISIONS)).filter((name) => /^\d+.*\.md$/.test(name));
  const titled = decisions.map((name) => {
    const title = titleOf(`${DECISIONS}/${name}`);
    return [`${DECISIONS}/${name}`, title, title];
  });
  const all = [
    ...GROUPS,
    {
      text: ['Decisions', 'Decisiones'],
      collapsed: true,
      items: [[`${DECISIONS}/README.md`, 'All decisions', 'Todas las decisiones'], ...titled],
    },
  ];
  return all.map((group) => ({ ...group, items: group.items.filter(([source]) => exists(source)) }));
}

/** Every source file in the navigation, without the translations. */
export function sources() {
  return groups().flatMap(({ items }) => items.map(([source]) => source));
}

/** The source file of a page, or null if the page is made for the site alone. */
export function sourceOf(place) {
  return PAGES_BY_PLACE.get(place) ?? null;
}

/** `[source, Spanish label]` of every page without a translation. */
export function onlyInEnglish() {
  return groups().flatMap(({ items }) =>
    items.filter(([source]) => translationOf(source) === null).map(([source, , label]) => [source, label]),
  );
}

function titleOf(source) {
  const [, title] = /^# (.+)$/m.exec(fs.readFileSync(path.join(ROOT, source), 'utf8'));
  return title;
}

function exists(source) {
  return fs.existsSync(path.join(ROOT, source));
}

const PAGES_BY_PLACE = new Map(
  ['site/index.md', 'site/es/index.md', ...sources(), ...sources().map(translationOf)]
    .filter((source) => source !== null)
    .map((source) => [placeOf(source), source]),
);
