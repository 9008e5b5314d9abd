// The few signs that the console uses, drawn here.
const paths = {
  fleet: 'M4 5h6v6H4zM14 5h6v6h-6zM4 15h6v4H4zM14 15h6v4h-6z',
  list: 'M4 6h16M4 12h16M4 18h16',
  run: 'M4 7h7M8 12h8M13 17h7',
  alert: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  heal: 'M4 12h4l2-5 4 10 2-5h4',
  orphan: 'M8 4h8l4 4v8l-4 4H8l-4-4V8zM12 9v3M12 15v.5',
  worker: 'M5 5h14v6H5zM5 13h14v6H5zM8 8h.5M8 16h.5',
  bulk: 'M4 4h10v10H4zM10 14v6h10V10h-6',
  event: 'M13 3L5 14h6l-1 7 8-11h-6z',
  audit: 'M7 3h10v18H7zM10 8h4M10 12h4M10 16h2',
  key: 'M8 15a4 4 0 1 1 3-6.6L20 8v4h-3v3h-3l-2.4-1.4A4 4 0 0 1 8 15z',
  shape: 'M5 5h5v5H5zM14 14h5v5h-5zM10 7.5h6.5V14',
  dev: 'M9 4v5L4 19h16L15 9V4M8 4h8',
  search: 'M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13zM15.5 15.5L20 20',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  moon: 'M19 14.5A8 8 0 0 1 9.5 5 8 8 0 1 0 19 14.5z',
  copy: 'M9 9h10v11H9zM6 15H5V4h10v2',
  menu: 'M4 6h16M4 12h16M4 18h16',
  out: 'M14 5h-9v14h9M10 12h11M17 8l4 4-4 4',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  right: 'M9 6l6 6-6 6',
  check: 'M5 12l5 5 9-11',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true" focusable="false">
    <path
      d={paths[name]}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinejoin="round"
      strokeLinecap="round"
    />
  </svg>
)
