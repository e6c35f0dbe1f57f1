import { navigate, usePathname, useSearch } from 'wouter/use-browser-location';

/** The router decodes what its hooks give it, and whoever uses a part of it once more: an id with a `%` would not survive. */
const encodedTwice = (address: string): string => address.replaceAll('%', '%25');

function useAddress(): [string, typeof navigate] {
  return [encodedTwice(usePathname()), navigate];
}

function useAddressSearch(): string {
  return encodedTwice(useSearch());
}

/** For the router: where the reader is, so that each part is decoded exactly once. */
export const ADDRESS = { hook: useAddress, searchHook: useAddressSearch };
