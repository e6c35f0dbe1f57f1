import { CloseFooter, Dialog } from '../parts/dialog';
import { SHORTCUTS } from './shortcuts';

export function KeysDialog({ close }: { readonly close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <div className="keys">
        {Object.entries(SHORTCUTS).map(([place, keys]) => (
          <section key={place}>
            <h3>{place}</h3>
            <dl>
              {Object.entries(keys).map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <CloseFooter close={close} />
    </Dialog>
  );
}
