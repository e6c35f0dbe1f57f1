import type { Config } from './config.js';
import type { Logger } from './logger.js';
import type { Tracing } from './tracing.js';

/** @returns undefined where no collector is named: nothing of OpenTelemetry's SDK is loaded then. */
export async function openTracing(
  config: Pick<Config, 'tracing'>,
  serviceName: string,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!config.tracing) return undefined;
  const { openOtelTracing } = await import('./otel-tracing.js');
  return openOtelTracing(serviceName, () => logger.warn('the collector does not take spans; they are lost'));
}
