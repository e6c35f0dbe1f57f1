// Who may import whom. `npm run lint` holds every rule against the code, and then against test/fixtures/import-rules,
// where each of them must be broken at least once: a rule that can't fail holds nothing.

const SHARED = '^packages/shared/src';
const ours =
  /** Everything in the repository, as opposed to Node's modules and npm's packages. */ '^(?!.*node_modules/)';
const npm = (...names) => `(^|/)node_modules/(@types/)?(${names.join('|')})/`;

/** A room may import itself, the paths and packages listed, and Node's own modules only if `node` says so. */
function room(name, from, comment, { paths = [], packages = [], node = false }) {
  const allowed = [from, ...paths, ...(packages.length > 0 ? [npm(...packages)] : [])];
  const to = { pathNot: allowed, ...(node ? { dependencyTypesNot: ['core'] } : {}) };
  return { name, comment, severity: 'error', from: { path: from }, to };
}

/** Only these files may import the packages. Tests and the bench look at everything. */
function only(name, files, packages, comment) {
  const from = { path: '^(packages|services|migrations|demo)/', pathNot: files };
  return { name, comment, severity: 'error', from, to: { path: npm(...packages) } };
}

const rooms = [
  room('domain-imports-nothing', `${SHARED}/domain/`, 'The law of the product runs anywhere, on arguments alone.', {}),
  room('wire-describes-the-domain', `${SHARED}/wire/`, 'Shapes of HTTP bodies and nothing that acts.', {
    paths: [`${SHARED}/domain/`],
    packages: ['zod'],
  }),
  room('store-knows-postgres-alone', `${SHARED}/store/`, 'Ids and times come as arguments, or from the database.', {
    paths: [`${SHARED}/domain/`],
    packages: ['pg'],
  }),
  room('queue-only-wakes', `${SHARED}/queue/`, 'A job carries ids; whoever needs more asks the store.', {
    paths: [`${SHARED}/(domain|wire)/`],
    packages: ['bullmq', 'ioredis'],
  }),
  room('runtime-serves-processes', `${SHARED}/runtime/`, 'It may read the names of the domain, but decides nothing.', {
    paths: [`${SHARED}/domain/`],
    packages: ['zod', 'pino', 'prom-client', 'uuid', 'ipaddr\\.js', '@opentelemetry/[\\w-]+'],
    node: true,
  }),
  room('vendor-asks-and-calls', `${SHARED}/vendor/`, 'The only way out to a vendor, for every process.', {
    paths: [`${SHARED}/(domain|store|runtime)/`],
    packages: ['undici', 'standardwebhooks'],
    node: true,
  }),
  room('process-opens-the-rooms', `${SHARED}/process/`, 'It puts the rooms together for a service, and asks none.', {
    paths: [`${SHARED}/(domain|store|queue|runtime)/`],
  }),
  room('migrations-stand-alone', '^migrations/src/', 'A version that ran must mean the same for ever.', {
    paths: [`${SHARED}/(runtime/(config|logger)|queue/names)\\.ts$`],
    packages: ['knex', 'pg', 'bullmq'],
  }),
  room(
    'receiver-stands-alone',
    '^packages/receiver/src/',
    "It runs in the vendor's process and knows nothing of ours.",
    {
      packages: ['standardwebhooks'],
    },
  ),
  room('client-stands-alone', '^packages/client/src/', 'It has no dependency, and runs in a browser too.', {}),
  room('cli-speaks-through-the-client', '^packages/cli/src/', 'It is a program of a user, as any other.', {
    paths: ['^packages/client/'],
    packages: ['@clack/prompts', 'cli-progress', 'cli-table3', 'commander', 'lossless-json', 'picocolors'],
    node: true,
  }),
  room(
    'dashboard-speaks-through-the-client',
    '^packages/dashboard/src/',
    'It runs in a browser and is one more user.',
    {
      paths: ['^packages/client/'],
      packages: ['react', 'react-dom', '@tanstack/[\\w-]+', '@radix-ui/[\\w-]+', 'wouter', 'lossless-json', 'vite'],
    },
  ),
  room(
    'chaos-checker-stands-alone',
    '^test/chaos/checker/',
    'Who judges the product shares no code with it, nor with those who drive it.',
    { packages: ['pg'], node: true },
  ),
  {
    name: 'services-meet-in-postgres-and-the-queue',
    comment: 'A service imports shared and itself, never another service, a tool or the demo.',
    severity: 'error',
    from: { path: '^services/([^/]+)/' },
    to: { path: ours, pathNot: [`${SHARED}/`, '^services/$1/'], dependencyTypesNot: ['core'] },
  },
  {
    name: 'backends-know-no-product',
    comment: 'It finds a Postgres and a Redis for any program.',
    severity: 'error',
    from: { path: '^packages/backends/' },
    to: { path: ours, pathNot: '^packages/backends/', dependencyTypesNot: ['core'] },
  },
  {
    name: 'demo-speaks-http',
    comment: 'It shows what a user sees; it starts the services as processes and imports none.',
    severity: 'error',
    from: { path: '^demo/' },
    to: { path: '^(services|migrations)/' },
  },
];

const owners = [
  only(
    'queue-alone-knows-bullmq',
    [`${SHARED}/queue/`, '^migrations/src/migrate-queue\\.ts$'],
    ['bullmq', 'ioredis'],
    'The queue is replaceable as long as one room knows it.',
  ),
  only(
    'store-alone-knows-pg',
    [`${SHARED}/store/`, '^migrations/', '^packages/backends/'],
    ['pg', 'knex'],
    'SQL lives in the store and in the migrations.',
  ),
  only('clock-alone-makes-ids', [`${SHARED}/runtime/clock\\.ts$`], ['uuid'], 'One source of time, ids and chance.'),
];

const everywhere = [
  {
    name: 'product-never-imports-tests',
    comment: 'Nothing that ships depends on test or bench.',
    severity: 'error',
    from: { path: '^(packages|services|migrations|demo)/' },
    to: { path: '^(test|bench|scripts)/' },
  },
  {
    name: 'no-cycles',
    comment: 'A cycle is one file that pretends to be several.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-unresolvable-imports',
    comment: 'An import that leads nowhere would slip through every rule above.',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [...rooms, ...owners, ...everywhere],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Our own built files and the fixture; not an npm package that happens to live in its dist.
    exclude: { path: '^(?!.*node_modules/).*(^|/)dist/|^test/fixtures/' },
    // An import of a type ties two files together as well.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // The sources of our own packages, as everywhere but in production.
      conditionNames: ['@undolog/source', 'import', 'types', 'node', 'default'],
    },
  },
};
