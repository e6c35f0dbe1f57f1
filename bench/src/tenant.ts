import type { HttpDriver } from './http-driver.js';
import type { Product } from './processes.js';
import type { Vendor } from './vendor.js';

/** An org of its own, with the cancellation of every leg registered. */
export interface Tenant {
  readonly orgId: string;
  /** The Authorization header of its key, name and value in turn. */
  readonly authorization: readonly string[];
}

export const COMPENSATION_VERSION = '1';

export function cancelName(leg: string): string {
  return `cancel_${leg}`;
}

export async function createTenant(
  driver: HttpDriver,
  product: Product,
  vendor: Vendor,
  legs: readonly string[],
): Promise<Tenant> {
  const [apiUrl] = product.apiUrls as [string];
  const asAdmin = ['authorization', `Bearer ${product.adminToken}`];
  const org = await driver.mustSend('POST', apiUrl, '/v1/orgs', { name: 'bench' }, asAdmin);
  const { org_id: orgId, api_key: apiKey } = org as { org_id: string; api_key: string };
  const authorization = ['authorization', `Bearer ${apiKey}`];
  for (const leg of legs) {
    const path = `/v1/compensations/${cancelName(leg)}/${COMPENSATION_VERSION}`;
    await driver.mustSend('PUT', apiUrl, path, { url: `${vendor.url}/cancel/${leg}` }, authorization);
  }
  return { orgId, authorization };
}
