"""Charts as SVG, with nothing but the standard library: bars by group, and lines over rows."""
import math
from xml.sax.saxutils import escape

OURS = ["#0b6e4f", "#5fb48d", "#a8d5ba"]
THEIRS = ["#8d3b3b", "#c97064", "#6b6f7b", "#a3a7b3", "#b08968", "#d9b99b", "#c9a227", "#4f6d9a", "#8fa9cf"]
FONT = 'font-family="Helvetica, Arial, sans-serif"'


def colours(labels):
    """Green for what is bucketed, other colours for the peers."""
    ours, theirs = iter(OURS * 9), iter(THEIRS * 9)
    return {label: next(ours if label.startswith("bucketed") else theirs) for label in labels}


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3g}"


def text(x, y, words, size=12, anchor="start", weight="normal", fill="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{fill}" {FONT}>{escape(str(words))}</text>')


def page(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}">\n'
            f'<rect width="{width}" height="{height:.0f}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def log_axis(low, high):
    low, high = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return low, max(high, low + 1)


def bars(title, note, unit, groups):
    """groups: [(name, [(label, value or None)])]; horizontal bars on a logarithmic axis, the values written beside."""
    values = [v for _, rows in groups for _, v in rows if v]
    if not values:
        return None
    low, high = log_axis(min(values), max(values))
    left, plot, right, bar = 270, 470, 80, 17
    scale = plot / (high - low)
    fill = colours(dict.fromkeys(label for _, rows in groups for label, _ in rows))
    out, y = [text(16, 26, title, 16, weight="bold"), text(16, 45, note, 11, fill="#555")], 66
    top = y
    for name, rows in groups:
        out.append(text(16, y + 12, name, 12, weight="bold"))
        y += 20
        for label, value in rows:
            out.append(text(left - 8, y + 12, label, 11, "end"))
            if value:
                w = max(2.0, (math.log10(value) - low) * scale)
                out.append(f'<rect x="{left}" y="{y + 1}" width="{w:.1f}" height="{bar - 4}" fill="{fill[label]}"/>')
                out.append(text(left + w + 5, y + 12, number(value), 11))
            else:
                out.append(text(left + 5, y + 12, "no answer in time", 11, fill="#a00"))
            y += bar
        y += 10
    grid = []
    for power in range(low, high + 1):
        x = left + (power - low) * scale
        grid.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{y - 4}" stroke="#ddd"/>')
        grid.append(text(x, y + 10, f"{10 ** power:,}" if power >= 0 else f"{10.0 ** power:g}", 10, "middle", fill="#555"))
    out.append(text(left + plot / 2, y + 28, unit + ", logarithmic; shorter is better", 11, "middle", fill="#555"))
    return page(left + plot + right, y + 40, grid + out)


def lines(title, note, x_name, unit, series):
    """series: {label: [(x, y)]}; both axes logarithmic."""
    points = [p for row in series.values() for p in row if p[1]]
    if not points:
        return None
    left, top, plot_w, plot_h = 90, 66, 470, 320
    x0, x1 = log_axis(min(p[0] for p in points), max(p[0] for p in points))
    y0, y1 = log_axis(min(p[1] for p in points), max(p[1] for p in points))

    def at(p):
        return (left + (math.log10(p[0]) - x0) / (x1 - x0) * plot_w, top + plot_h - (math.log10(p[1]) - y0) / (y1 - y0) * plot_h)

    out = [text(16, 26, title, 16, weight="bold"), text(16, 45, note, 11, fill="#555")]
    for power in range(x0, x1 + 1):
        x, _ = at((10 ** power, 10 ** y0))
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + plot_h}" stroke="#ddd"/>')
        out.append(text(x, top + plot_h + 16, f"{10 ** power:,}", 10, "middle", fill="#555"))
    for power in range(y0, y1 + 1):
        _, y = at((10 ** x0, 10 ** power))
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + plot_w}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(text(left - 6, y + 4, f"{10 ** power:,}" if power >= 0 else f"{10.0 ** power:g}", 10, "end", fill="#555"))
    fill = colours(series)
    for i, (label, row) in enumerate(series.items()):
        places = [at(p) for p in row if p[1]]
        out.append(f'<polyline fill="none" stroke="{fill[label]}" stroke-width="2" points="' +
                   " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill[label]}"/>' for x, y in places]
        y = top + 10 + i * 18
        out.append(f'<rect x="{left + plot_w + 16}" y="{y}" width="12" height="12" fill="{fill[label]}"/>')
        out.append(text(left + plot_w + 34, y + 10, label, 11))
    out.append(text(left + plot_w / 2, top + plot_h + 36, x_name, 11, "middle", fill="#555"))
    out.append(text(16, top - 6, unit, 11, fill="#555"))
    return page(left + plot_w + 260, top + plot_h + 50, out)
