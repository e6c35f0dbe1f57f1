import { Queue, Worker } from 'bullmq';
import { shareFairly } from '../services/compensator/dist/fair-share.js';
const conn = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
const prefix = 'zzfair' + process.pid;
const q = new Queue('t', { connection: conn, prefix });
let running = 0, held = 0; const log = (...a) => console.log(Math.round(performance.now() - t0), ...a); const t0 = performance.now();
const handle = shareFairly(4, async (p) => { log('run', p.org_id, p.n); running++; await new Promise((r) => setTimeout(r, p.org_id === 'a' ? 6000 : 5)); running--; });
const w = new Worker('t', async (job) => { held++; try { await handle(job.data); } catch (e) { log('bounce', job.data.n); throw e; } finally { held--; } }, { connection: conn, prefix, concurrency: 8, lockDuration: 6000, stalledInterval: 2000, maxStalledCount: 1e9, settings: { backoffStrategy: (_m, _t, e) => e.waitMs ?? 1000 } });
w.on('error', (e) => log('error', e.message));
const opts = { attempts: 1e9, backoff: { type: 'x' }, removeOnComplete: true, removeOnFail: true };
await q.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: 'a', data: { org_id: 'a', n }, opts })));
await new Promise((r) => setTimeout(r, 1000));
await q.add('b', { org_id: 'b', n: 100 }, opts);
for (let i = 0; i < 8; i++) { await new Promise((r) => setTimeout(r, 500)); log('counts', JSON.stringify(await q.getJobCounts('active', 'waiting', 'delayed')), 'held', held, 'running', running); }
process.exit();
