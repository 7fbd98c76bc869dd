// What stands on the page many times, or first of all: made of plain elements, so that the page is there at once.
import { Menu, Tooltip, UnstyledButton } from '@mantine/core'
import { type HTMLAttributes, type ReactElement, type ReactNode, cloneElement, useEffect, useId, useRef, useState } from 'react'
import { isGoing, useStudio } from './store'

// One of several, side by side.
export function Segments<T extends string>({ value, onChange, data, label, fullWidth = false }: { value: T; onChange: (value: T) => void; data: { value: T; label: string }[]; label: string; fullWidth?: boolean }) {
  const name = useId()
  return (
    <div className={fullWidth ? 'segments full' : 'segments'} role="radiogroup" aria-label={label}>
      {data.map((d) => (
        <label key={d.value}><input type="radio" name={name} checked={d.value === value} onChange={() => onChange(d.value)} /><span>{d.label}</span></label>
      ))}
    </div>
  )
}

// Why there is nothing to look at.
export function NotYet({ what, when }: { what: string; when: string }) {
  const going = useStudio((s) => s.runs.some(isGoing))
  return <>{going ? `The run goes on: ${what} come ${when}.` : `Run the model to see ${what} here.`}</>
}

// What is said about something when the mouse rests on it; nothing is made before the mouse comes.
// The element itself stays what it is: one that is made anew under the mouse loses the click that is on its way.
export function Hint({ label, children }: { label: ReactNode; children: ReactElement<HTMLAttributes<HTMLElement>> }) {
  const [near, setNear] = useState<HTMLElement | null>(null)
  const timer = useRef(0)
  const leave = () => { clearTimeout(timer.current); setNear(null) }
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <>
      {cloneElement(children, { onPointerEnter: (e) => { const at = e.currentTarget; timer.current = setTimeout(() => setNear(at), 350) }, onPointerLeave: leave })}
      {near && <Tooltip opened target={near} label={label} position="right" multiline w={280} withArrow />}
    </>
  )
}

// A button with a menu that is made when it is pressed.
export function Choose({ label, shown, data, choose }: { label: string; shown: string; data: { value: string; label: string }[]; choose: (value: string) => void }) {
  const [open, setOpen] = useState(false)
  if (!open) return <UnstyledButton className="unit choice" aria-label={label} aria-haspopup="menu" onClick={() => setOpen(true)}>{shown}</UnstyledButton>
  return (
    <Menu opened position="bottom-end" withinPortal shadow="md" onClose={() => setOpen(false)}>
      <Menu.Target><UnstyledButton className="unit choice" aria-label={label}>{shown}</UnstyledButton></Menu.Target>
      <Menu.Dropdown>{data.map((d) => <Menu.Item key={d.value} onClick={() => choose(d.value)}>{d.label}</Menu.Item>)}</Menu.Dropdown>
    </Menu>
  )
}
