export interface TreeEntry {
  readonly path: string;
  readonly type: string;
  readonly linkpath: string;
  /** In bytes. */
  readonly size: number;
}

export class TreeCheck {
  constructor(limits: { readonly maxFiles: number; readonly maxBytes: number });
  files: number;
  /** What is wrong with the entry; null: nothing. */
  add(entry: TreeEntry): string | null;
}
