# SPDX-License-Identifier: GPL-3.0-or-later
# Makes rank.txt: 200 random data sets and what R says of them.  Not run by the tests.
#   Rscript tests/reference/rank.R >tests/reference/rank.txt
# Packages r-base-core and r-cran-exactranktests of Debian 12.
suppressWarnings(suppressMessages(library(exactRankTests)))
set.seed(20101130)
num <- function(x) paste(sprintf("%.17g", x), collapse = " ")
cat("# kind n values | signed-rank p | estimate low high (no ties only) | t p low high | kendall p (no ties, n <= 9)\n")
for (i in 1:200) {
    n <- sample(6:30, 1)
    ties <- i %% 10 < 3
    x <- if (ties) sample(-6:12, n, replace = TRUE) / 4 else rnorm(n, sample(c(0, .3, 1), 1))
    t <- t.test(x)
    if (ties) {
        z <- x[x != 0]
        p <- if (length(z)) wilcox.exact(z)$p.value else 1
        rest <- c(NA, NA, NA)
    } else {
        w <- wilcox.test(x, exact = TRUE, conf.int = TRUE, conf.level = .95)
        p <- w$p.value
        rest <- c(w$estimate, w$conf.int)
    }
    k <- if (!ties && n <= 9) cor.test(x, seq_along(x), method = "kendall", exact = TRUE)$p.value else NA
    cat("set", n, num(x), "|", num(p), "|", num(rest), "|", num(c(t$p.value, t$conf.int)), "|", num(k), "\n")
}
for (i in 1:20) {
    p <- runif(sample(2:12, 1))^2
    cat("holm", length(p), num(p), "|", num(p.adjust(p, "holm")), "\n")
}
