import { useState, type SubmitEvent } from 'react';
import { signIn, type SignIn } from '../server/sign-in';

/** The key goes from the field to the server, which answers with a cookie. It is kept nowhere. */
export function SignInPage({ signedIn }: { readonly signedIn: (as: SignIn) => void }) {
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const key = new FormData(form).get('key') as string;
    form.reset();
    setBusy(true);
    setFault('');
    signIn(key.trim())
      .then(signedIn, (error: Error) => setFault(error.message))
      .finally(() => setBusy(false));
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1>UndoLog</h1>
        <label htmlFor="key">API key of an operator or an admin</label>
        <input id="key" name="key" type="password" autoComplete="off" spellCheck={false} required autoFocus />
        <button type="submit" className="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p role="alert" className="fault">
          {fault}
        </p>
        <p className="hint">The key is not kept in the browser. Whoever has none asks the admin of the org.</p>
      </form>
    </main>
  );
}
