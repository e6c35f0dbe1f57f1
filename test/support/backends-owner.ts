import { startPostgres } from '@undolog/backends/start-postgres';
import { startRedis } from '@undolog/backends/start-redis';

// A process that owns a Postgres and a Redis, says where they are, and then ends in the way that its argument names
// without stopping them. A test looks at what is left.
const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
process.stdout.write(`${JSON.stringify([postgres.port, redis?.port])}\n`);

switch (process.argv[2]) {
  case 'exit':
    process.exit(3);
  case 'throw':
    throw new Error('an uncaught exception, as the test asked');
  case 'return':
    break;
  default:
    // Until the test's signal.
    setInterval(() => undefined, 60_000);
}
