import { useEffect, useRef, type ReactNode, type RefObject } from 'react';
import { useTable, type ColumnDef, type RowData, tableFeatures } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useShortcuts } from '../shell/shortcuts';

const ROW_PX = 44;
/** On narrow screens a row is a card of several lines. */
const CARD_PX = 132;
const NARROW = window.matchMedia('(max-width: 700px)');
const OVERSCAN = 12;

const features = tableFeatures({});
export type Columns<T extends RowData> = readonly ColumnDef<typeof features, T>[];

type RowKeys<T> = Readonly<Record<string, (row: T) => void>>;

interface DataTableProps<T extends RowData> {
  readonly label: string;
  /** Names the widths of its columns. */
  readonly kind: 'sessions' | 'dead-letters' | 'audit';
  readonly columns: Columns<T>;
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  /** Called when the end of what is there comes into sight. */
  readonly more?: (() => void) | undefined;
  readonly empty: ReactNode;
  /** Keys for the row that has the focus. */
  readonly keys?: RowKeys<T>;
}

function focusedIndex(list: HTMLElement | null): number {
  const row = document.activeElement?.closest<HTMLElement>('[data-index]');
  return row && list?.contains(row) ? Number(row.dataset['index']) : -1;
}

function linkOf(list: HTMLElement | null, index: number): HTMLElement | null | undefined {
  return list?.querySelector<HTMLElement>(`[data-index="${index}"] a`);
}

/** Keys that move the focus from row to row, and those that act on the row that has it. */
function useRowKeys<T>(
  list: RefObject<HTMLElement | null>,
  rows: readonly T[],
  keys: RowKeys<T>,
  show: (index: number) => void,
) {
  const step = (by: number): void => {
    const index = Math.min(Math.max(focusedIndex(list.current) + by, 0), rows.length - 1);
    if (index < 0) return;
    show(index);
    const focus = (): void => linkOf(list.current, index)?.focus();
    // A row that was out of sight is there with the next picture.
    if (linkOf(list.current, index)) focus();
    else requestAnimationFrame(focus);
  };
  const onFocused = (act: (row: T) => void) => (): void => {
    const row = rows[focusedIndex(list.current)];
    if (row) act(row);
  };
  const acting = Object.entries(keys).map(([key, act]) => [key, onFocused(act)] as const);
  useShortcuts({ j: () => step(1), k: () => step(-1), ...Object.fromEntries(acting) });
}

/**
 * A long list of which only what is in sight exists. j and k move the focus from row to row, to each row's first link, so
 * Enter opens it as it opens any link.
 */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { label, kind, columns, rows, idOf, more, empty, keys = {} } = props;
  const list = useRef<HTMLDivElement>(null);
  const table = useTable({
    features,
    columns: columns as ColumnDef<typeof features, T>[],
    data: rows as T[],
    getRowId: idOf,
  });
  const shown = table.getRowModel().rows;
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => list.current,
    estimateSize: () => (NARROW.matches ? CARD_PX : ROW_PX),
    overscan: OVERSCAN,
    getItemKey: (index) => shown[index]!.id,
  });
  const items = virtualizer.getVirtualItems();
  const endInSight = (items.at(-1)?.index ?? -1) >= shown.length - 1 - OVERSCAN;
  useEffect(() => {
    if (endInSight) more?.();
  }, [endInSight, more]);
  useRowKeys(list, rows, keys, (index) => virtualizer.scrollToIndex(index));
  return (
    <div className={`data-table ${kind}`} role="table" aria-label={label} aria-rowcount={more ? -1 : shown.length + 1}>
      <div role="rowgroup" className="heads">
        <div role="row">
          {table.getFlatHeaders().map((header) => (
            <div role="columnheader" key={header.id} className={`column-${header.column.id}`}>
              <table.FlexRender header={header} />
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="rows" ref={list} tabIndex={-1}>
        {shown.length === 0 && <Empty>{empty}</Empty>}
        <div role="presentation" className="all" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ key, index, start }) => (
            <div
              role="row"
              key={key}
              data-index={index}
              ref={virtualizer.measureElement}
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${start}px)` }}
            >
              {shown[index]!.getAllCells().map((cell) => (
                <div role="cell" key={cell.id} className={`column-${cell.column.id}`}>
                  <table.FlexRender cell={cell} />
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <div role="row">
      <div role="cell" className="empty">
        {children}
      </div>
    </div>
  );
}
