/** Who is signed in, as `/dashboard/session` tells it. The key itself is never kept: the browser has a cookie. */
export interface SignIn {
  readonly org_id: string;
  readonly key_id: string;
  readonly name: string | null;
  readonly role: 'operator' | 'admin';
  readonly csrf_token: string;
  readonly expires_at: string;
}

const PATH = '/dashboard/session';

/** The server said no, in words for the person. */
export class SignInRefused extends Error {}

async function reasonOf(response: Response): Promise<string> {
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; title?: string };
  return problem.detail ?? problem.title ?? `the server answered ${response.status}`;
}

/** @returns null when nobody is signed in. */
export async function whoIsSignedIn(): Promise<SignIn | null> {
  const response = await fetch(PATH);
  if (response.status === 401) return null;
  if (!response.ok) throw new SignInRefused(await reasonOf(response));
  return (await response.json()) as SignIn;
}

export async function signIn(apiKey: string): Promise<SignIn> {
  const response = await fetch(PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: apiKey }),
  });
  if (!response.ok) throw new SignInRefused(await reasonOf(response));
  return (await response.json()) as SignIn;
}

/** @throws while the sign-in is still good. */
export async function signOut({ csrf_token }: SignIn): Promise<void> {
  const response = await fetch(PATH, { method: 'DELETE', headers: { 'x-undolog-csrf': csrf_token } });
  if (!response.ok) throw new SignInRefused(await reasonOf(response));
}
