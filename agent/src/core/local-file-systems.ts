/** ext, XFS, Btrfs, tmpfs, ramfs, overlay, ZFS, F2FS: one kernel alone has them mounted. */
export const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x858458f6, 0x794c7630, 0x2fc12fc1, 0xf2f52010,
]);
