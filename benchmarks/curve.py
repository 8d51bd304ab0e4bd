"""The picture of a learning curve."""

from __future__ import annotations

from pathlib import Path

from mrjack_ai.common.files import write_whole


def draw_curve(curve: list[dict[str, float]], path: Path) -> None:
    """The learning curve as an SVG picture."""
    width, height, left, top = 720, 360, 60, 20
    longest = max(point["seconds"] for point in curve) / 60 or 1
    across, down = width - left - 20, height - top - 50

    def at(minutes: float, share: float) -> str:
        return f"{left + across * minutes / longest:.1f},{top + down * (1 - share):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for percent in range(0, 101, 25):
        x, y = at(0, percent / 100).split(",")
        parts.append(f'<path d="M{x},{y} H{left + across}" stroke="#ccc"/>')
        parts.append(
            f'<text x="{left - 8}" y="{float(y) + 4}" text-anchor="end">{percent} %</text>'
        )
    step = max(1, round(longest / 6))
    for minutes in range(0, int(longest) + 1, step):
        x = at(minutes, 0).split(",")[0]
        parts.append(f'<text x="{x}" y="{top + down + 18}" text-anchor="middle">{minutes}</text>')
    line = " ".join(at(point["seconds"] / 60, point["won"]) for point in curve)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#1f5fa8" stroke-width="2"/>')
    title = "games won by Jack against cautious while learning, by minutes of learning"
    parts.append(f'<text x="{left}" y="{height - 8}">{title}</text></svg>')
    write_whole(path, "\n".join(parts) + "\n")
